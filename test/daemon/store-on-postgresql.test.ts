/**
 * A daemon with its store in a database: acknowledged mail survives kill -9, a second user of the store must wait, and the store can move
 * either way.
 */
import { once } from 'node:events'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { Daemon, newAdminKey, runCommand, type DaemonOptions } from '../support/daemon/daemon.ts'
import { makeDestination, makeRoute } from '../support/daemon/provision.ts'
import { waitFor, waiting } from '../support/waits.ts'
import { assertVerified } from '../support/problems.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { databasesOf } from '../support/peers/postgresql.ts'
import { testWith } from '../support/peers/peers.ts'
import type { SinkAnswer } from '../support/smtp/sink-script.ts'
import { Sink } from '../support/smtp/sink.ts'

const test = testWith('postgresql')
const postgresql = databasesOf(test)

test('PostgreSQL: accept, capture, crash, move into a folder and back', async (t) => {
  await using folder = await temporaryFolder('postgresql')
  const database = await postgresql().database()
  const objects = join(folder.path, 'objects')
  await mkdir(objects)
  const options = { folder: folder.path, env: { POSTERN_STORE: database, POSTERN_STORE_OBJECTS: `file://${objects}` } }
  const traces: string[] = []
  const key = newAdminKey()
  {
    await using daemon = await Daemon.start(options, key)
    await send(daemon, traces, 30)
    const elsewhere = await runCommand({ folder: join(folder.path, 'other'), env: options.env }, 'verify')
    t.not(elsewhere.code, 0)
    t.regex(elsewhere.output, /The database at postgresql:.* is in use by a Postern daemon\. Stop all daemons/)
    t.regex((await runCommand(options, 'verify')).output, /: all agree\n$/, 'ledger: verify: in the running daemon')
    const backup = await runCommand(options, 'backup', join(folder.path, 'one.backup'))
    t.is(backup.code, 0, backup.output)
    await send(daemon, traces, 5)
    await daemon.kill()
  }
  {
    await using daemon = await Daemon.start(options, key)
    await assertThere(t, daemon, traces)
    await send(daemon, traces, 1)
  }
  t.regex((await runCommand(options, 'verify')).output, /: all agree\n$/, 'ledger: verify: in the database of a stopped one')

  const large = (await readdir(objects, { recursive: true })).filter((name) => name.includes('.')).map((name) => join(objects, name))
  t.is(large.length, 3, 'of each large message, the full row')
  const [one = ''] = large
  await rename(one, `${one}.away`)
  const damaged = await runCommand(options, 'verify')
  t.is(damaged.code, 1)
  t.regex(damaged.output, /is missing in file:.*: restore it from a copy of the objects, or restore a backup\./)
  await rename(`${one}.away`, one)

  const inFolder = { folder: join(folder.path, 'moved'), env: { POSTERN_MASTER_KEY_FILE: join(folder.path, 'data/master.key') } }
  const target = join(inFolder.folder, 'data')
  const moved = await runCommand(options, 'migrate', '--from', database, '--to', target)
  t.regex(
    moved.output,
    /^Copied \d+ rows; the copy is identical \(SHA-256 [0-9a-f]{64}\)\.\nThe store at .* Start the daemon with the data folder /,
  )
  t.regex((await runCommand(options, 'migrate', '--from', database, '--to', target)).output, /already contains a store/)
  {
    await using daemon = await Daemon.start(inFolder, key)
    await assertThere(t, daemon, traces)
    await send(daemon, traces, 3)
  }
  const back = ['migrate', '--from', target, '--to', database] as const
  t.regex((await runCommand(options, ...back)).output, /already contains data\..* Otherwise, --replace deletes it/)
  t.is((await runCommand(options, ...back, '--replace')).code, 0)
  {
    await using daemon = await Daemon.start(options, key)
    await assertThere(t, daemon, traces)
  }
  const restored = await runCommand(options, 'restore', join(folder.path, 'one.backup'), '--into', join(folder.path, 'restored'))
  t.is(restored.code, 0, restored.output)
  assertVerified(t, await runCommand({ folder: folder.path, env: { POSTERN_DATA_DIR: join(folder.path, 'restored') } }, 'verify'))
})

test('migrate --ahead: copies while the daemon relays, and each mail is sent once', async (t) => {
  await using folder = await temporaryFolder('ahead')
  const [database, whole] = [await postgresql().database(), await postgresql().database()]
  const options = { folder: folder.path, env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' } }
  const data = join(folder.path, 'data')
  const traces: string[] = []
  const key = newAdminKey()
  const finish = ['migrate', '--from', data, '--to', database] as const
  const held = Promise.withResolvers<void>()
  const hold = (content: Buffer): SinkAnswer | undefined => (content.includes('under way') ? (held.resolve(), { act: 'hold' }) : undefined)
  await using sink = await Sink.listen({ script: { message: (_from, _to, content) => hold(content) } })
  let last = ''
  {
    await using daemon = await Daemon.start(options, key)
    await makeRoute(daemon.rest, await makeDestination(daemon.rest, { name: 'host', port: sink.port, mode: 'live' }))
    await send(daemon, traces, 20)
    const { id } = await daemon.rest.must('POST', '/v1/suppressions', { email: 'gone@inbox.test' })
    t.regex(
      (await runCommand(options, ...finish.slice(0, 4), join(folder.path, 'x'), '--ahead')).output,
      /from a data folder into a database/,
    )
    const copying = runCommand(options, ...finish, '--ahead')
    let isCopied = false
    void copying.finally(() => (isCopied = true))
    await waitFor('the store is copied', async () => {
      await send(daemon, traces, 4)
      return isCopied
    })
    t.regex(
      (await copying).output,
      /^Copied \d+ rows ahead; the copy is identical \(SHA-256 [0-9a-f]{64}\)\.\nThe copy is not in use yet\. Stop the daemon/,
    )
    await daemon.rest.must('DELETE', `/v1/suppressions/${String(id)}`)
    await send(daemon, traces, 4)
    // an attempt in progress at a kill may send twice; only the held message is in that state
    await waitFor('nothing is under way', async () => ((await queued(daemon)).length === 0 ? true : undefined))
    last = String((await daemon.rest.must('POST', '/v1/messages', { ...mail, text: 'under way' }))['trace_id'])
    await held.promise
    await daemon.kill()
  }
  const finished = await runCommand(options, ...finish)
  t.is(finished.code, 0, finished.output)
  t.regex(
    finished.output,
    /^Copied \d+ rows that changed since the copy made ahead\. All \d+ rows have their current versions\.\nThe store at .* can no longer be used\. Start the daemon with .* set to /,
  )
  t.regex((await runCommand(options, ...finish)).output, /already contains data\. If it is the copy of this store, set POSTERN_STORE/)
  const before = await Daemon.launch(options, key)
  t.is((await waiting('the start is refused', before.exited)).code, 1)
  t.regex(before.log, /The store in .* was moved to postgresql:.*\. A daemon here would send mail a second time\. Set POSTERN_STORE/)
  t.regex((await runCommand(options, ...finish, '--ahead')).output, /The store in .* was moved to postgresql:/)
  t.regex((await runCommand(options, 'migrate', '--from', data, '--to', whole)).output, /was moved to .*\. Use that store as --from/)
  await rm(join(data, 'store', 'moved'))
  t.is(await digestOf(options, data, whole), await digestOf(options, database, join(folder.path, 'back', 'data')), 'as a copy of all is')

  const moved = { ...options, env: { ...options.env, POSTERN_STORE: database } }
  const copied = await Daemon.launch(moved, key)
  t.is((await waiting('the start is refused', copied.exited)).code, 1)
  t.regex(
    copied.log,
    /The store at postgresql:.* was moved to .*\. A daemon here would send mail a second time/,
    'the store was copied back',
  )
  await postgresql().query('COMMENT ON TABLE postern_rows IS NULL', database.split('/').at(-1))
  sink.script = {}
  await using daemon = await Daemon.start(moved, key)
  await assertThere(t, daemon, [...traces, last])
  t.deepEqual((await daemon.rest.must('GET', '/v1/suppressions'))['data'], [])
  while (sink.deliveries.length < traces.length + 1) await once(sink, 'delivery')
  const sent = sink.deliveries.map(({ text }) => /^Message-ID: <(\S+)@/im.exec(text)?.[1] ?? '')
  t.deepEqual(sent.toSorted(), [...traces, last].toSorted(), 'ledger: all that was acknowledged, once')
  t.regex(JSON.stringify(await daemon.rest.must('GET', `/v1/traces/${last}`)), /"attempt":1,"state":"unknown"/)
})

test('migrate: ignores a copy made ahead of another or a restored store', async (t) => {
  await using folder = await temporaryFolder('other')
  const database = await postgresql().database()
  for (const name of ['one', 'two']) {
    await using daemon = await Daemon.start({ folder: join(folder.path, name) })
    await daemon.stop()
  }
  const copy = (name: string, ...flags: string[]) =>
    runCommand({ folder: folder.path }, 'migrate', '--from', join(folder.path, name, 'data'), '--to', database, ...flags)
  t.is((await copy('one', '--ahead')).code, 0)
  t.regex((await copy('two')).output, /^The copy made ahead is of another store.*\nCopied \d+ rows; the copy is identical/)
})

const mail = { from: 'a@site.test', to: 'b@inbox.test', subject: 's' }

/** Returns the digest of a full copy between two places. */
async function digestOf(options: DaemonOptions, from: string, to: string): Promise<string | undefined> {
  const { output } = await runCommand(options, 'migrate', '--from', from, '--to', to)
  return /SHA-256 (\w+)/.exec(output)?.[1]
}

async function send({ rest }: Daemon, traces: string[], many: number): Promise<void> {
  const one = async (text: string): Promise<void> => {
    const sent = await rest.must('POST', '/v1/messages', { ...mail, text })
    traces.push(String(sent['trace_id']))
  }
  await Promise.all(Array.from({ length: many }, (_, i) => one(i === 0 ? 'large '.repeat(60_000) : `text ${i}`)))
}

async function queued({ rest }: Daemon): Promise<unknown[]> {
  return Array.fromAsync(rest.rows('/v1/queue'))
}

async function assertThere(t: ExecutionContext, { rest }: Daemon, traces: readonly string[]): Promise<void> {
  const answers = await Promise.all(traces.map((id) => rest.call('GET', `/v1/traces/${id}`)))
  t.deepEqual(
    answers.map(({ status }) => status),
    traces.map(() => 200),
    'ledger: acknowledged messages are missing',
  )
}
