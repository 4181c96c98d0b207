/**
 * A changed octet in the master key: every command and the running daemon report it, and no backup contains a key that cannot decrypt its
 * data.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { Daemon, runCommand, type DaemonOptions } from '../../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../../support/daemon/workspace.ts'
import { assertVerified } from '../../../support/problems.ts'

const env = { POSTERN_BACKUP_PASSPHRASE: 'correct horse battery', POSTERN_DOCTOR_TIME_SERVERS: '' }
const wrong = /The master key is not the one this data was written with; restore \S*master\.key or POSTERN_MASTER_KEY\./
const damaged = /master\.key does not hold a master key of 32 bytes; restore the file, /
const missing = /The master key is missing, but \S+ holds data written with one; restore \S+master\.key or set POSTERN_MASTER_KEY\./

interface Place {
  readonly options: DaemonOptions
  readonly at: (name: string) => string
  readonly keyFile: string
}

async function placeOf(t: ExecutionContext): Promise<Place> {
  const folder = await temporaryFolder('damaged-key')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const at = (name: string): string => join(folder.path, name)
  return { options: { folder: folder.path, env }, at, keyFile: at('data/master.key') }
}

/** Another key, an invalid key, and no file. */
const damages: readonly (readonly [RegExp, (text: string) => string | undefined])[] = [
  [wrong, (text) => text.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))],
  [damaged, (text) => text.replace(/^./, '\u0001')],
  [missing, () => undefined],
]

const place = (path: string, text: string | undefined): Promise<void> =>
  text === undefined ? rm(path) : writeFile(path, text, { mode: 0o600 })

/** Asserts that the command fails with this sentence and without a stack. */
async function assertNamed(t: ExecutionContext, options: DaemonOptions, sentence: RegExp, ...args: readonly string[]): Promise<string> {
  const { code, output } = await runCommand(options, ...args)
  t.is(code, 1, `${args.join(' ')}: ${output}`)
  t.regex(output, sentence)
  t.notRegex(output, /\n +at |all agree|files, complete/)
  return output
}

test.serial('verify, backup, doctor: report a wrong master key of a stopped store', async (t) => {
  const { options, at, keyFile } = await placeOf(t)
  const daemon = await Daemon.start(options)
  await daemon.rest.must('POST', '/v1/messages', { from: 'a@site.test', to: 'b@inbox.test', subject: 's', text: 't' })
  t.is((await daemon.stop()).code, 0)
  const key = await readFile(keyFile, 'utf8')
  for (const [sentence, change] of damages) {
    await place(keyFile, change(key))
    t.regex(await assertNamed(t, options, sentence, 'verify'), /: 1 problem\n$/)
    const refused = await assertNamed(t, options, sentence, 'backup', at('bad.backup'))
    t.regex(refused, / No backup was written\. Earlier backups are unchanged\.\n$/)
    t.regex(await assertNamed(t, options, /^BAD {2}master key: /m, 'doctor'), /^BAD {2}master key: .*[Rr]estore /m)
    t.is((await runCommand(options, 'serve')).code, 78)
  }
  t.deepEqual(
    (await readdir(at('.'))).filter((name) => name.includes('backup')),
    [],
  )
  await place(keyFile, key)
  assertVerified(t, await runCommand(options, 'verify'))
  t.regex((await runCommand(options, 'doctor')).output, /^ok {3}master key: /m)
  t.is((await runCommand(options, 'backup', at('good.backup'))).code, 0)
})

test.serial('damaged master key: a running daemon reports it and backs up the working key', async (t) => {
  const { options, at, keyFile } = await placeOf(t)
  await using daemon = await Daemon.start(options)
  await daemon.rest.must('POST', '/v1/messages', { from: 'a@site.test', to: 'b@inbox.test', subject: 's', text: 't' })
  const key = await readFile(keyFile, 'utf8')
  for (const [i, [sentence, change]] of damages.entries()) {
    await place(keyFile, change(key))
    t.regex(await assertNamed(t, options, sentence, 'verify'), /: 1 problem\n$/)
    const file = at(`${i}.backup`)
    const said = await assertNamed(t, options, sentence, 'backup', file)
    t.regex(said, /^Backup of .*\n.* The backup is complete and contains the key that the running daemon uses\.\n$/)
    t.regex((await runCommand(options, 'verify', file)).output, / complete\n$/)
    t.is((await runCommand(options, 'restore', file, '--into', at(`restored-${i}`))).code, 0)
    t.is(await readFile(join(at(`restored-${i}`), 'master.key'), 'utf8'), key)
    t.regex((await runCommand(options, 'doctor')).output, /master_key\.(?:wrong|missing): |BAD {2}master key: /)
  }
  assertVerified(t, await runCommand({ ...options, dataDir: at('restored-0') }, 'verify'))
  await place(keyFile, key)
  assertVerified(t, await runCommand(options, 'verify'))
  t.is((await daemon.stop()).code, 0)
})

test.serial('configured master key: replaces the check of the file, which no backup contains', async (t) => {
  const { options: plain, at, keyFile } = await placeOf(t)
  const options = { ...plain, env: { ...env, POSTERN_MASTER_KEY: 'a1'.repeat(32) } }
  const daemon = await Daemon.start(options)
  await place(keyFile, 'b2'.repeat(32))
  t.is((await runCommand(plain, 'backup', at('running.backup'))).code, 0, 'the daemon has the key')
  t.is((await daemon.stop()).code, 0)
  t.is((await runCommand(options, 'backup', at('stopped.backup'))).code, 0)
  assertVerified(t, await runCommand(options, 'verify'))
  await assertNamed(t, { ...plain, env: { ...env, POSTERN_MASTER_KEY: 'b2'.repeat(32) } }, wrong, 'verify')
  for (const name of ['running', 'stopped']) {
    t.is((await runCommand(options, 'restore', at(`${name}.backup`), '--into', at(name))).code, 0)
    t.false((await readdir(at(name))).includes('master.key'), name)
  }
  await place(keyFile, 'a1'.repeat(32))
  t.is((await runCommand(options, 'backup', at('same.backup'))).code, 0)
  t.is((await runCommand(plain, 'restore', at('same.backup'), '--into', at('same'))).code, 0)
  assertVerified(t, await runCommand({ ...plain, dataDir: at('same') }, 'verify'))
})
