/** Daemons that reach the database through PgBouncer: they work with session pooling and refuse other modes. */
import { join } from 'node:path'
import { waiting } from '../../support/waits.ts'
import { Daemon, runCommand } from '../../support/daemon/daemon.ts'
import { catchAllInbox } from '../../support/daemon/provision.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { testWith } from '../../support/peers/peers.ts'
import { Pgbouncer } from '../../support/peers/pgbouncer.ts'
import { databasesOf } from '../../support/peers/postgresql.ts'
import { severalDaemons } from './daemons.ts'

const test = testWith('postgresql', 'pgbouncer')
const postgresql = databasesOf(test)

const mail = { from: 'a@site.test', to: 'b@inbox.test', subject: 's', text: 't' }

test('session pooler: sending, signals, fencing and migration work', async (t) => {
  await using pooler = await Pgbouncer.before(postgresql(), 'session')
  const database = await postgresql().database()
  const address = pooler.address(database)
  const several = await severalDaemons(t, address)
  const ask = (text: string) => postgresql().query(text, new URL(database).pathname.slice(1))

  const a = await several.start()
  const [first] = await ask('SELECT id FROM postern_daemons')
  const b = await several.start()
  const made = await a.rest.must('POST', '/v1/api-keys', { name: 'key', scopes: ['api:send'] })
  using sender = new RestClient(b.addresses.http, String(made['key']))
  t.is((await sender.call('POST', '/v1/messages', mail)).status, 200)
  t.is((await a.rest.call('DELETE', `/v1/api-keys/${String(made['id'])}`)).status, 200)
  t.is((await sender.call('POST', '/v1/messages', mail)).status, 401, 'revoked at the other daemon')
  const inbox = `/v1/inboxes/${await catchAllInbox(a.rest)}`
  let isAwake = false
  const held = b.rest.must('POST', `${inbox}/wait?timeout=30`).finally(() => (isAwake = true))
  for (let at = 0; !isAwake; at++) await a.rest.must('POST', '/v1/messages', { ...mail, subject: `wakes ${at}` })
  t.regex(String((await held)['subject']), /^wakes \d+$/, 'captured at the other daemon')

  // like a daemon that takes over from a silent one
  for (const table of ['daemons', 'writers']) await ask(`DELETE FROM postern_${table} WHERE id <> '${String(first?.['id'])}'`)
  t.is((await waiting('the replaced daemon ends', b.exited)).code, 70)
  t.is((await a.rest.call('POST', '/v1/messages', mail)).status, 200)
  t.is((await a.stop()).code, 0)
  await using folder = await temporaryFolder('moved')
  const moved = await runCommand({ folder: folder.path }, 'migrate', '--from', address, '--to', join(folder.path, 'data'))
  t.is(moved.code, 0, moved.output)
})

test('transaction pooler: a running daemon stops, and no daemon starts', async (t) => {
  await using pooler = await Pgbouncer.before(postgresql(), 'session')
  const address = pooler.address(await postgresql().database())
  const several = await severalDaemons(t, address)
  const daemon = await several.start()
  let isOver = false
  void daemon.exited.then(() => (isOver = true))
  pooler.setMode('transaction')
  const send = (subject: string) => daemon.rest.call('POST', '/v1/messages', { ...mail, subject }).catch(() => undefined)
  while (!isOver) await Promise.all(['1', '2', '3'].map(send)) // its connections block each other
  t.is((await daemon.exited).code, 70)
  t.regex(daemon.log, /must keep one session for each client \(pool_mode = session\)/)

  await using folder = await temporaryFolder('pooler')
  const options = { folder: folder.path, env: { POSTERN_STORE: address } }
  const says = /^The pooler at \S+ gives a client another session for each transaction, .*pool_mode = session.*PostgreSQL itself\.$/m
  for (const mode of ['transaction', 'statement'] as const) {
    pooler.setMode(mode)
    await using refused = await Daemon.launch(options)
    t.is((await waiting('the start is refused', refused.exited)).code, 1)
    t.regex(refused.log, says, mode)
  }
})
