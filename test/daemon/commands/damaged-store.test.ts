/** Damage of the store: every command and the daemon report it, flipped bits are corrected, and earlier backups are kept. */
import { cp, open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import ava, { type ExecutionContext, type TestFn } from '#test'
import { checkFiles, type FileDamage } from '#store/level/files/check-files.ts'
import { Daemon, runCommand, type DaemonOptions } from '../../support/daemon/daemon.ts'
import { assertVerified } from '../../support/problems.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { waitFor } from '../../support/waits.ts'

const passphrase = { POSTERN_BACKUP_PASSPHRASE: 'correct horse battery', POSTERN_DOCTOR_TIME_SERVERS: '' }
const messages = 240
const sentence = /records\/\d+\.ldb (is|was) damaged at octet \d+/
const corrected = /records\/\d+\.ldb had a flipped bit at octet \d+\..*test the memory and the disk/

/** Sends messages, each with an idempotency key. Returns the status and the trace id of each, in order. */
async function send({ rest }: Daemon): Promise<readonly { readonly status: number; readonly id: unknown }[]> {
  const one = { from: 'a@site.test', to: 'b@inbox.test', subject: 'Hello', text: 'x'.repeat(300) }
  const sendOne = (i: number) => rest.call('POST', '/v1/messages', one, { 'idempotency-key': `message ${i} ${'k'.repeat(100)}` })
  const answers: Awaited<ReturnType<typeof sendOne>>[] = []
  for (let sent = 0; sent < messages; sent += 40)
    answers.push(...(await Promise.all(Array.from({ length: 40 }, (_, i) => sendOne(sent + i)))))
  return answers.map(({ status, body }) => ({ status, id: (body as { readonly trace_id?: unknown }).trace_id }))
}

async function flip(path: string, at: number): Promise<void> {
  const bytes = await readFile(path)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  await writeFile(path, bytes)
}

/** Changes octets of a block that contains only rows of this family. */
async function damageRows(records: string, family: string, how: 'one bit' | 'many'): Promise<void> {
  const names = (await readdir(records)).filter((name) => name.endsWith('.ldb'))
  const sizes = await Promise.all(names.map(async (name) => ({ path: join(records, name), size: (await stat(join(records, name))).size })))
  const { path, size } = sizes.toSorted((a, b) => b.size - a.size)[0] ?? { path: '', size: 0 }
  const damageAt = async (at: number): Promise<FileDamage | undefined> => {
    await flip(path, at)
    const { damage } = await checkFiles(records, () => {})
    await flip(path, at)
    return damage[0]
  }
  const isOfFamily = ({ keys }: FileDamage): boolean =>
    [keys?.from, keys?.upTo].every(
      (key) => key !== undefined && Buffer.from(key).includes(`\x02${family}\0`) && !Buffer.from(key).includes('\x02expire\0'),
    )
  let found: FileDamage | undefined
  for (let at = 0; at < size; at += 512) {
    const damage = await damageAt(at)
    if (!found && damage && isOfFamily(damage)) found = damage
    if (!found || damage?.problem === found.problem) continue
    const [, next] = /octet (\d+)/.exec(damage?.problem ?? '') ?? []
    for (let changed = 0; changed < (how === 'one bit' ? 1 : 32); changed++) await flip(path, Number(next) - 1 - changed)
    return
  }
  throw new Error(`no block has nothing but rows of ${family}`)
}

/** Reads pages of traces until the last one, or until an error response. */
async function listTraces({ rest }: Daemon): Promise<{ readonly rows: number; readonly failure?: Readonly<Record<string, unknown>> }> {
  let rows = 0
  for (let cursor = ''; ;) {
    const { status, body } = await rest.call('GET', `/v1/traces?limit=50${cursor === '' ? '' : `&cursor=${cursor}`}`)
    if (status !== 200) return { rows, failure: { status, body } }
    const { data, next_cursor: next } = body as { readonly data: readonly unknown[]; readonly next_cursor: string | null }
    rows += data.length
    if (next === null) return { rows }
    cursor = encodeURIComponent(next)
  }
}

/** Asserts that the command fails with this sentence and without a stack. */
async function assertNamed(t: ExecutionContext, options: DaemonOptions, ...args: readonly string[]): Promise<string> {
  const { code, output } = await runCommand(options, ...args)
  t.is(code, 1, `${args.join(' ')}: ${output}`)
  t.regex(output, sentence)
  t.notRegex(output, /\n +at |all agree|files, complete/)
  return output
}

/** A stopped store with messages, all of them in tables, and a backup of it in `good.backup`. */
interface Filled {
  readonly folder: string
  readonly adminKey: string
  readonly sent: Awaited<ReturnType<typeof send>>
}

const test = ava as TestFn<Filled>

/** Fills the store that most tests copy. */
test.before(async (t) => {
  const folder = await temporaryFolder('filled-store')
  ends.push(() => folder[Symbol.asyncDispose]())
  const options = { folder: folder.path, env: passphrase }
  await using daemon = await Daemon.start(options)
  const sent = await send(daemon)
  t.is((await runCommand(options, 'backup', join(folder.path, 'good.backup'))).code, 0)
  t.is((await daemon.stop()).code, 0)
  assertVerified(t, await runCommand(options, 'verify')) // LevelDB moves the rows of the log into a table
  t.context = { folder: folder.path, adminKey: daemon.adminKey, sent }
})

const ends: (() => PromiseLike<void>)[] = []
test.after.always(async () => {
  for (const end of ends) await end()
})

/** Copies the filled store into a folder. */
async function filled({ context }: ExecutionContext<Filled>, folder: string) {
  await cp(context.folder, folder, { recursive: true, preserveTimestamps: true })
  return { options: { folder, env: passphrase }, ...context, records: join(folder, 'data/store/records') }
}

test.serial('damaged table: verify, backup, doctor and lists report it; older backups stay', async (t) => {
  await using folder = await temporaryFolder('damaged-store')
  const at = (name: string): string => join(folder.path, name)
  const { options, adminKey, records } = await filled(t, folder.path)
  await damageRows(records, 'send', 'many')
  const good = await readFile(at('good.backup'))

  const verified = await assertNamed(t, options, 'verify')
  t.regex(
    verified,
    /^records.*\n1 problem\. The store is damaged, so its records were not compared\. The next start of the daemon repairs damaged files if possible\. Then run postern verify again\. If rows are missing, restore the last good backup\.\n$/,
  )
  await assertNamed(t, options, 'doctor')
  await assertNamed(t, options, 'backup', at('good.backup'), '--force')

  const second = await Daemon.start(options, adminKey)
  t.teardown(() => second.kill())
  await waitFor('the log names the damage', async () => sentence.test(second.log) || undefined)
  const { rows, failure } = await listTraces(second)
  t.like(failure, { status: 500 }, `ledger: a list with ${rows} of ${messages} messages ended without an error`)
  t.regex(JSON.stringify(failure), /The store is damaged.*postern verify/)
  await listTraces(second)
  const failed = (): number => second.log.split('a request failed: the store is damaged').length - 1
  await waitFor('the log names the request', async () => failed() > 0 || undefined)
  await assertNamed(t, options, 'verify')
  await assertNamed(t, options, 'backup', at('good.backup'), '--force')
  t.regex(await assertNamed(t, options, 'doctor'), /BAD {2}store\.damaged/)
  await second.rest.must('POST', '/v1/messages', { from: 'a@site.test', to: 'b@inbox.test', subject: 'after', text: 'x' })
  t.is((await second.stop()).code, 0)
  t.is(failed(), 1)
  t.notRegex(second.log, /"stack"|unexpected error/)

  t.true((await readFile(at('good.backup'))).equals(good), 'ledger: the good backup is unchanged')
  t.deepEqual(
    (await readdir(folder.path)).filter((name) => name.endsWith('.tmp')),
    [],
  )
  t.is((await runCommand(options, 'restore', at('good.backup'), '--into', at('restored'))).code, 0)
  const restored = { ...options, dataDir: at('restored') }
  assertVerified(t, await runCommand(restored, 'verify'))
  await using third = await Daemon.start(restored, adminKey)
  t.deepEqual(await listTraces(third), { rows: messages }, 'ledger: the restored messages')
})

test.serial('possibly lost idempotency key: a repeated send is refused', async (t) => {
  await using folder = await temporaryFolder('damaged-keys')
  const { options, adminKey, records, sent } = await filled(t, folder.path)
  await damageRows(records, 'idempotency', 'many')
  const second = await Daemon.start(options, adminKey)
  t.teardown(() => second.kill())
  const repeated = await send(second)
  const twice = repeated.filter(({ status, id }, i) => status < 400 && id !== sent[i]?.id)
  t.deepEqual(twice, [], 'ledger: messages that were accepted a second time')
  t.true(repeated.some(({ status }) => status === 500))
  t.true(repeated.some(({ status }) => status < 400))
  t.is((await second.stop()).code, 0)
  t.notRegex((await runCommand(options, 'verify')).output, /had to stop/)
})

test.serial('flipped bit in a table: verify and backup report it, the next start corrects it', async (t) => {
  await using folder = await temporaryFolder('flipped-bit')
  const { options, adminKey, records } = await filled(t, folder.path)
  await damageRows(records, 'send', 'one bit')
  await assertNamed(t, options, 'verify')
  await assertNamed(t, options, 'backup', join(folder.path, 'no.backup'))
  const second = await Daemon.start(options, adminKey)
  t.teardown(() => second.kill())
  await waitFor('the log names the bit', async () => corrected.test(second.log) || undefined)
  t.deepEqual(await listTraces(second), { rows: messages }, 'ledger: all messages')
  assertVerified(t, await runCommand(options, 'verify'))
  t.is((await runCommand(options, 'backup', join(folder.path, 'mended.backup'))).code, 0)
  t.is((await second.stop()).code, 0)
  assertVerified(t, await runCommand(options, 'verify'))
})

test.serial('lost log writes: mail continues, lists fail, a command accepts the loss', async (t) => {
  await using folder = await temporaryFolder('damaged-log')
  const options = { folder: folder.path, env: passphrase }
  const first = await Daemon.start(options)
  await send(first)
  await first.kill()
  const records = join(folder.path, 'data/store/records')
  const [log = ''] = (await readdir(records)).filter((name) => name.endsWith('.log'))
  const bytes = await readFile(join(records, log))
  const middle = Math.floor(bytes.length / 2)
  await writeFile(join(records, log), bytes.fill(0xa5, middle, middle + 600))

  const second = await Daemon.start(options, first.adminKey)
  t.teardown(() => second.kill())
  const { failure } = await listTraces(second)
  t.like(failure, { status: 500 }, 'ledger: a list that may lack messages')
  t.regex(JSON.stringify(failure), /The store is damaged.*postern verify/)
  const one = { from: 'a@site.test', to: 'b@inbox.test', subject: 'after', text: 'x' }
  const { trace_id: id } = await second.rest.must('POST', '/v1/messages', one)
  t.like(await second.rest.must('GET', `/v1/traces/${String(id)}`), { subject: 'after' })
  const { warnings } = (await second.rest.call('GET', '/readyz')).body as { readonly warnings: readonly string[] }
  t.regex(warnings.join(' '), /^store\.damaged: .*records\/\d+\.log was damaged at octet \d+ when the store was opened/)
  t.regex((await runCommand(options, 'doctor')).output, /BAD {2}store\.damaged/)
  const running = await runCommand(options, 'verify', '--accept-losses')
  t.deepEqual([running.code, running.output.startsWith('A daemon runs on this store. Stop it')], [1, true], running.output)
  t.is((await runCommand(options, 'backup', join(folder.path, 'no.backup'))).code, 1)
  t.is((await second.stop()).code, 0)

  const verified = await runCommand(options, 'verify')
  t.is(verified.code, 1)
  t.regex(verified.output, /records\/\d+\.log was damaged/)
  const accepted = await runCommand(options, 'verify', '--accept-losses')
  t.regex(accepted.output, /^Accepted: records\/\d+\.log was damaged.*\nAccepted: \d+ group commits are lost\.\n/)
  await using third = await Daemon.start(options, first.adminKey)
  const { rows, failure: none } = await listTraces(third)
  t.is(none, undefined)
  t.true(rows > 0 && rows <= messages)
})

test.serial('irreparable table or file list: the start ends with 65 and a sentence', async (t) => {
  await using folder = await temporaryFolder('refused-store')
  const { options, adminKey, records } = await filled(t, folder.path)
  const names = await readdir(records)
  for (const name of [names.find((file) => file.endsWith('.ldb')) ?? '', names.find((file) => file.startsWith('MANIFEST')) ?? '']) {
    const path = join(records, name)
    const bytes = await readFile(path)
    const at = name.endsWith('.ldb') ? bytes.length - 40 : 20
    await writeFile(path, Buffer.from(bytes).fill(0xa5, at, at + 20))
    const start = await Daemon.launch(options, adminKey)
    t.deepEqual(await start.exited, { code: 65, signal: null }, start.log)
    t.regex(
      start.log,
      /^The store in .* is damaged\. (records\/\d+\.ldb is damaged at octet \d+|LevelDB cannot open it: .*)\. Restore the last good backup\.\n$/,
    )
    await writeFile(path, bytes)
  }
  await using again = await Daemon.start(options, adminKey)
  t.deepEqual(await listTraces(again), { rows: messages }, 'ledger: nothing was changed')
})

test.serial('store in use: a second daemon repairs nothing', async (t) => {
  await using folder = await temporaryFolder('damaged-in-use')
  const { options, adminKey, records } = await filled(t, folder.path)
  await using second = await Daemon.start(options, adminKey)
  const [table = ''] = (await readdir(records)).filter((name) => name.endsWith('.ldb'))
  const bytes = (await readFile(join(records, table))).fill(0xa5, 100, 200)
  await writeFile(join(records, table), bytes, { flag: 'r+' })
  await using other = await Daemon.launch({ ...options, folder: join(folder.path, 'other'), dataDir: join(folder.path, 'data') })
  t.is((await other.exited).code, 1)
  t.regex(other.log, /is in use by/)
  t.true((await readFile(join(records, table))).equals(bytes))
  await second.kill()
})

test.serial('damaged large value: the response is an error, and doctor names the value', async (t) => {
  await using folder = await temporaryFolder('damaged-value')
  const options = { folder: folder.path, env: passphrase }
  await using daemon = await Daemon.start(options)
  const one = { from: 'a@site.test', to: 'b@inbox.test', subject: 'Large', text: 'x'.repeat(40_000) }
  const { trace_id: id } = await daemon.rest.must('POST', '/v1/messages', one)
  const values = join(folder.path, 'data/store/values')
  const [segment = ''] = await readdir(values)
  const bytes = await readFile(join(values, segment))
  for (let at = 0; at < bytes.length; at += 1000) bytes[at] = (bytes[at] ?? 0) ^ 1
  await writeFile(join(values, segment), bytes, { flag: 'r+' })
  const { status, body } = await daemon.rest.call('GET', `/v1/traces/${String(id)}/message/raw`)
  t.is(status, 500)
  t.like(body, { error: { code: 'internal_error', next_action: 'ask_operator' } })
  t.regex((await runCommand(options, 'doctor')).output, /BAD {2}store\.damaged.*values\/\d+\.values is damaged at octet \d+/)
})

test.serial('backup: replaces a file only with --force and removes leftovers of killed ones', async (t) => {
  await using folder = await temporaryFolder('backup-again')
  const options = { folder: folder.path, env: passphrase }
  const at = (name: string): string => join(folder.path, name)
  await (await Daemon.start(options)).stop()
  const file = at('daily.backup')
  t.is((await runCommand(options, 'backup', file)).code, 0)
  const before = await readFile(file)
  const refused = await runCommand(options, 'backup', file)
  t.is(refused.code, 1)
  t.regex(refused.output, /daily\.backup already exists\. Use another name, or --force to replace it\.$/m)
  t.true((await readFile(file)).equals(before))
  const id = '0b3f1c1e-0000-4000-8000-000000000000'
  const left = [`daily.backup.${id}.tmp`, `daily.backup.${id.replaceAll('0', '1')}.tmp`, `other.backup.${id}.tmp`, 'daily.backup.notes.tmp']
  const dated = [`daily-1.backup.${id}.tmp`, `daily-2.backup.${id}.tmp`, `daily-3.backup.${id}.tmp`]
  for (const name of left) await writeFile(at(name), 'left')
  for (const name of dated) await writeFile(at(name), before.subarray(0, 400))
  await using held = await open(at(dated[2] ?? ''), 'r')
  t.true(held.fd > 0)
  const hoursAgo = Date.now() / 1000 - 2 * 3600
  for (const name of [...left.filter((_, i) => i !== 1), ...dated.filter((_, i) => i !== 1)]) await utimes(at(name), hoursAgo, hoursAgo)
  t.is((await runCommand(options, 'backup', file, '--force')).code, 0)
  t.false((await readFile(file)).equals(before))
  const names = (await readdir(folder.path)).filter((name) => name.endsWith('.tmp'))
  t.deepEqual(names.toSorted(), [...left.slice(1), ...dated.slice(1)].toSorted(), 'current unfinished files, and files of other programs')
})

test.serial('verify: a missing file prevents the start of the daemon', async (t) => {
  for (const pick of [/\.ldb$/, /^CURRENT$/]) {
    await using folder = await temporaryFolder('missing-file')
    const { options, records } = await filled(t, folder.path)
    const [gone = ''] = (await readdir(records)).filter((name) => pick.test(name))
    await rm(join(records, gone))
    const { code, output } = await runCommand(options, 'verify')
    t.is(code, 1, output)
    t.regex(output, /The daemon does not start without the missing file\. Put it back, or restore the last good backup\.\n$/, gone)
    t.is((await runCommand(options, 'serve')).code, 65, gone)
  }
})
