/** Selection of the server that accepts writes, and the longest outage. */
import test from '#test'
import { StoreUnavailable } from '#store/kv.ts'
import { parseStoreAddress } from '#store/postgresql/address.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { Servers } from '#store/postgresql/servers.ts'
import { Front } from '../../support/network/front.ts'
import { waitFor } from '../../support/waits.ts'
import { testWith } from '../../support/peers/peers.ts'
import { Postgresql } from '../../support/peers/postgresql.ts'
import { ok, read, write } from '../../contracts/kv-subject.ts'

test.serial('Servers: a clock set forward does not shorten the longest outage', async (t) => {
  const now = Date.now
  t.teardown(() => (Date.now = now))
  let tries = 0
  const work = async (): Promise<string> => {
    if (++tries === 3) return 'there'
    Date.now = () => now() + tries * 3_600_000
    throw new StoreUnavailable('away')
  }
  t.is(await new Servers({ servers: [], shown: '' }, 30_000).patiently(work, () => false), 'there')
})

testWith('postgresql')('Servers: writes go only to the server promoted last', async (t) => {
  await using first = await Postgresql.start()
  const name = '/' + new URL(await first.database()).pathname.slice(1)
  await using second = await Postgresql.standbyOf(first)
  await using front = await Front.to(second.port)
  const both = `postgresql://postern@127.0.0.1:${first.port},127.0.0.1:${front.port}${name}`
  const rowsAt = async (server: Postgresql): Promise<number> =>
    Number((await server.query('SELECT count(*)::int AS n FROM postern_rows', name.slice(1)))[0]?.['n'])

  await first.replicateSynchronously()
  await using kv = await PostgresKv.open(both, { use: 'together' })
  t.deepEqual(await write(kv, { sets: [['a', 'before']] }), ok)
  const atFirst = await rowsAt(first)
  second.promote() // while the first server still runs
  t.deepEqual(await write(kv, { sets: [['b', 'after']] }), ok)
  t.is(await read(kv, 'b'), 'after')
  t.is(await rowsAt(second), atFirst + 1)

  await using later = await PostgresKv.open(both, { use: 'together' })
  t.deepEqual(await write(later, { sets: [['c', 'later']] }), ok, 'although the first server comes first in its address')
  t.is(await rowsAt(second), atFirst + 2)
  await front.close() // the first server remains reachable, and it accepts writes
  const waiting = write(kv, { sets: [['d', 'patient']] })
  await t.throwsAsync(PostgresKv.open(both.replace(`:${first.port},`, ':1,'), { maxOutageMs: 0 }), { name: 'StoreUnavailable' })
  await front.open()
  t.deepEqual(await waiting, ok, 'the write waited for the promoted server')
  t.is(await rowsAt(second), atFirst + 3)

  await first.rejoin(second)
  await second.replicateSynchronously()
  t.deepEqual(await write(kv, { sets: [['e', 'both servers have the row']] }), ok)
  await second.stopServer('SIGQUIT')
  first.promote()
  t.deepEqual(await write(kv, { sets: [['f', 'back']] }), ok)
  for (const one of ['a', 'b', 'c', 'd', 'e', 'f']) t.truthy(await read(later, one), one)
})

testWith('postgresql')('a replaced server: takes no writes after its return while the promoted server is away', async (t) => {
  await using first = await Postgresql.start()
  const { pathname } = new URL(await first.database())
  await using second = await Postgresql.standbyOf(first)
  await using old = await Front.to(first.port)
  await using link = await Front.to(second.port)
  const both = `postgresql://postern@127.0.0.1:${old.port},127.0.0.1:${link.port}${pathname}`
  await using kv = await PostgresKv.open(both, { use: 'together' })
  const servers = new Servers(parseStoreAddress(both), 0)
  const rowsAt = async (server: Postgresql) => (await server.query('SELECT FROM postern_rows', pathname.slice(1))).length
  t.deepEqual(await write(kv, { sets: [['a', 'before']] }), ok)
  await first.stopServer() // cleanly, so that the standby has all rows
  second.promote()
  t.deepEqual(await write(kv, { sets: [['b', 'after']] }), ok)

  await servers.lookForPromoted()
  await first.startServer() // on its older timeline, where it acknowledges writes without a standby
  const atFirst = await rowsAt(first)
  link.refuse()
  const waiting = write(kv, { sets: [['c', 'patient']] })
  const looks = old.reached(old.accepted + 3).then(() => 'the replaced server was checked')
  t.is(await Promise.race([waiting, looks]), 'the replaced server was checked')
  await servers.lookForPromoted()
  await t.throwsAsync(servers.connect('test'), { message: /127\.0\.0\.1 was replaced by a promoted standby/ })
  link.forward()
  t.deepEqual(await waiting, ok)
  t.is(await rowsAt(first), atFirst)
  t.is(await rowsAt(second), atFirst + 2)
})

testWith('postgresql')('PostgresKv: ends if a promoted standby lacks its writes', async (t) => {
  await using first = await Postgresql.start()
  const { pathname } = new URL(await first.database())
  await using second = await Postgresql.standbyOf(first)
  const both = `postgresql://postern@127.0.0.1:${first.port},127.0.0.1:${second.port}${pathname}`
  const failures: string[] = []
  const kv = await PostgresKv.open(both, { use: 'together', onFailure: ({ message }) => failures.push(message) })
  await second.query("ALTER SYSTEM SET primary_conninfo = ''")
  await second.query('SELECT pg_reload_conf()')
  await waitFor(
    'the standby has stopped replicating',
    async () => (await first.query('SELECT FROM pg_stat_replication')).length === 0 || undefined,
  )
  t.deepEqual(await write(kv, { sets: [['a', 'only at the old primary']] }), ok)
  second.promote()
  const refused = await waitFor('the store fails', () => write(kv, { sets: [['b', 'still there']] }).then(() => undefined, String))
  t.regex(refused, /has lost acknowledged writes/)
  t.is(failures.length, 1)
  await kv[Symbol.asyncDispose]()
})
