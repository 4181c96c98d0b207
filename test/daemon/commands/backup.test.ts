/**
 * Backups of a daemon under load: a restore has every message acknowledged before the backup, and an unfinished file never looks complete.
 */
import { once } from 'node:events'
import { watch } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from '#test'
import { Daemon, runCommand, spawnCommand, type DaemonOptions } from '../../support/daemon/daemon.ts'
import { waitFor } from '../../support/waits.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { Seeded } from '../../support/seeded.ts'
import { assertVerified } from '../../support/problems.ts'

const passphrase = { POSTERN_BACKUP_PASSPHRASE: 'correct horse battery' }

/** Acknowledged messages with the time of the acknowledgement. */
interface Ledger {
  readonly traces: string[]
  readonly stop: () => Promise<void>
}

/** Sends until it is stopped. Large bodies that do not compress make the backup take some time. */
function load({ rest }: Daemon): Ledger {
  const random = new Seeded('bodies')
  const traces: string[] = []
  let stopped = false
  const send = async (): Promise<void> => {
    while (!stopped) {
      const text = random.bytes(traces.length < 40 && traces.length % 2 === 0 ? 150_000 : 300).toString('base64')
      const { trace_id } = await rest.must('POST', '/v1/messages', { from: 'a@site.test', to: 'b@inbox.test', subject: 's', text })
      traces.push(String(trace_id))
      if (traces.length > 45) await pause(20)
    }
  }
  const senders = [send(), send()]
  return {
    traces,
    async stop() {
      stopped = true
      await Promise.all(senders)
    },
  }
}

async function assertThere(t: ExecutionContext, daemon: Daemon, traces: readonly string[]): Promise<void> {
  const missing: string[] = []
  for (const id of traces) if ((await daemon.rest.call('GET', `/v1/traces/${id}`)).status !== 200) missing.push(id)
  t.deepEqual(missing, [], `ledger: ${missing.length} of ${traces.length} acknowledged messages are missing`)
  const raw = await fetch(`http://${daemon.addresses.http}/v1/traces/${traces[0]}/message/raw`, {
    headers: { authorization: `Bearer ${daemon.adminKey}` },
  })
  t.true((await raw.text()).length > 150_000)
}

test.serial('backup: a daemon under load is restored with all acknowledged mail', async (t) => {
  await using folder = await temporaryFolder('backup')
  const options = { folder: folder.path, env: passphrase }
  const at = (name: string): string => join(folder.path, name)
  await using daemon = await Daemon.start(options)
  t.regex(await (await fetch(`http://${daemon.addresses.http}/metrics`)).text(), /^postern_last_backup_age_seconds \+Inf$/m)
  const ledger = load(daemon)
  await waitFor('some messages', () => ledger.traces.length >= 45)
  await killedBackup(t, options, at('killed.backup'))

  const beforeFull = [...ledger.traces]
  const full = await runCommand(options, 'backup', at('full.backup'))
  t.is(full.code, 0, full.output)
  const few = ledger.traces.length
  await waitFor('more messages', () => ledger.traces.length >= few + 20)
  const beforeNext = [...ledger.traces]
  const next = await runCommand(options, 'backup', at('next.backup'), '--since', at('full.backup'))
  t.is(next.code, 0, next.output)
  const online = await runCommand(options, 'verify')
  t.regex(online.output, /^\d+ records, .*: all agree\n$/, 'ledger: verify')
  await ledger.stop()
  t.regex(await (await fetch(`http://${daemon.addresses.http}/metrics`)).text(), /^postern_last_backup_age_seconds \d/m)
  t.true((await stat(at('next.backup'))).size < (await stat(at('full.backup'))).size, 'unchanged data are not in the backup')

  t.is((await runCommand(options, 'restore', at('full.backup'), '--into', at('one'))).code, 0)
  const both = await runCommand(options, 'restore', at('full.backup'), at('next.backup'), '--into', at('both'))
  t.is(both.code, 0, both.output)
  for (const [name, expected] of [
    ['one', beforeFull],
    ['both', beforeNext],
  ] as const) {
    const restored = { ...options, dataDir: at(name) }
    assertVerified(t, await runCommand(restored, 'verify'))
    await using second = await Daemon.start({ ...restored, folder: at(`${name}-run`) }, daemon.adminKey)
    await assertThere(t, second, expected)
    if (name === 'one') await goesOnFromItsPast(t, { ...options, dataDir: at(name) }, at)
  }
  const key = (dataDir: string): Promise<string> => readFile(join(dataDir, 'master.key'), 'utf8')
  t.is(await key(at('both')), await key(at('data')))
  await refusals(t, options, at)
})

/** The restored daemon has reused version numbers that the incremental backup contains as well. */
async function goesOnFromItsPast(t: ExecutionContext, options: DaemonOptions, at: (name: string) => string): Promise<void> {
  const wrong = await runCommand(options, 'backup', at('wrong.backup'), '--since', at('next.backup'))
  t.is(wrong.code, 1, wrong.output)
  t.regex(wrong.output, /^The store does not know the backup \S+\. .* Make a full backup, without --since\.$/m)
  t.false((await readdir(options.folder)).some((name) => name.startsWith('wrong.backup')))
  const right = await runCommand(options, 'backup', at('right.backup'), '--since', at('full.backup'))
  t.is(right.code, 0, right.output)
  t.is((await runCommand(options, 'restore', at('full.backup'), at('right.backup'), '--into', at('branch'))).code, 0)
  assertVerified(t, await runCommand({ ...options, dataDir: at('branch') }, 'verify'))
  const stopped = await runCommand({ ...options, dataDir: at('branch') }, 'backup', at('wrong.backup'), '--since', at('next.backup'))
  t.is(stopped.code, 1, stopped.output)
  t.regex(stopped.output, /^The store does not know the backup /m)
}

/** Kills backups while they write. The named file is complete or does not exist. */
async function killedBackup(t: ExecutionContext, options: DaemonOptions, file: string): Promise<void> {
  let cut = 0
  for (let i = 0; i < 6 && cut === 0; i++) {
    const child = spawnCommand(options, 'backup', file)
    const watcher = watch(options.folder, (_, name) => void (name?.endsWith('.tmp') && child.kill('SIGKILL')))
    await once(child, 'close')
    watcher.close()
    const names = (await readdir(options.folder)).filter((name) => name.startsWith('killed.backup'))
    if (names.includes('killed.backup')) t.is((await runCommand(options, 'verify', file)).code, 0)
    else if (names.length > 0) cut++
    for (const name of names) {
      if (name !== 'killed.backup') t.is((await runCommand(options, 'verify', join(options.folder, name))).code, 1, name)
      await rm(join(options.folder, name))
    }
  }
  t.is(cut, 1, 'a backup was killed while it was written')
}

async function refusals(t: ExecutionContext, options: DaemonOptions, at: (name: string) => string): Promise<void> {
  const refused = async (pattern: RegExp, args: readonly string[], env: DaemonOptions['env'] = options.env): Promise<void> => {
    const { code, output } = await runCommand({ ...options, ...(env && { env }) }, ...args)
    t.is(code, 1, output)
    t.regex(output, pattern)
    t.notRegex(output, /\n +at /)
  }
  const full = at('full.backup')
  await refused(/^The passphrase is wrong, or the backup is damaged\.\n$/, ['verify', full], { POSTERN_BACKUP_PASSPHRASE: 'another one' })
  await refused(/^The backup is encrypted; give its passphrase/, ['verify', full], {})
  const another = ['backup', at('another.backup'), '--since', full]
  const oneChain = 'All backups of a chain have the same passphrase. Use the passphrase of the earlier backup, or make a full backup.'
  await refused(new RegExp(`^The passphrase is wrong, or the backup is damaged\\. ${oneChain}\n$`), another, {
    POSTERN_BACKUP_PASSPHRASE: 'another one',
  })
  await refused(new RegExp(`^The backup is encrypted; give its passphrase in POSTERN_BACKUP_PASSPHRASE\\. ${oneChain}$`, 'm'), another, {})
  await t.throwsAsync(stat(at('another.backup')), { code: 'ENOENT' }, 'a backup that could never be restored')
  await copyFile(full, at('cut.backup'))
  const { size } = await stat(full)
  await truncate(at('cut.backup'), size - 1000)
  await refused(/^The backup is truncated or damaged\. Nothing was restored\. Delete .*\/cut\.\n$/, [
    'restore',
    at('cut.backup'),
    '--into',
    at('cut'),
  ])
  const bytes = await readFile(full)
  const changed = Math.floor(size / 2)
  bytes[changed] = (bytes[changed] ?? 0) ^ 1
  await writeFile(at('changed.backup'), bytes)
  await refused(/^The backup is truncated or damaged\./, ['verify', at('changed.backup')])
  // the first line is readable, but changing it breaks the backup
  await writeFile(
    at('other.backup'),
    Buffer.concat([Buffer.from(bytes.toString('latin1').replace('"since":null', '"since":{"id":"x","until":"1"}'), 'latin1')]),
  )
  await refused(/wrong, or the backup is damaged/, ['verify', at('other.backup')])
  await refused(/^The file is not a Postern backup/, ['verify', at('data/master.key')])
  await refused(/^The first backup is based on backup /, ['restore', at('next.backup'), '--into', at('alone')])
  await refused(/is not empty\. Restore into a new or empty folder/, ['restore', full, '--into', at('both')])

  const broken = { ...options, dataDir: at('cut') }
  const start = await runCommand(broken, 'serve')
  t.is(start.code, 1)
  t.regex(start.output, /^A restore into .*\/cut is running or has failed, so data are missing\. Delete the folder/)
  t.is((await runCommand(broken, 'verify')).code, 1)
  await mkdir(at('empty'))
  const none = await runCommand({ ...options, dataDir: at('empty') }, 'backup', at('none.backup'))
  t.is(none.code, 1)
  t.regex(none.output, /^There is no data in /m)
}

test.serial("backup: writes a stopped daemon's data to stdout, unencrypted with a warning", async (t) => {
  await using folder = await temporaryFolder('backup-stopped')
  const options = { folder: folder.path }
  const daemon = await Daemon.start(options)
  await daemon.rest.must('POST', '/v1/messages', { from: 'a@site.test', to: 'b@inbox.test', subject: 's', text: 't' })
  t.is((await daemon.stop()).code, 0)
  const child = spawnCommand(options, 'backup', '-')
  const [chunks, said]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk))
  await once(child, 'close')
  t.regex(Buffer.concat(said).toString(), /^This backup is not encrypted and contains the master key\. Set POSTERN_BACKUP_PASSPHRASE/)
  const file = join(folder.path, 'piped.backup')
  await writeFile(file, Buffer.concat(chunks))
  const { output } = await runCommand(options, 'verify', file)
  t.regex(output, /^Backup \S+ of \S+: \d+ rows and \d+ files, complete\n$/)
  t.is((await runCommand(options, 'restore', file, '--into', join(folder.path, 'again'))).code, 0)
  assertVerified(t, await runCommand({ ...options, dataDir: join(folder.path, 'again') }, 'verify'))
})
