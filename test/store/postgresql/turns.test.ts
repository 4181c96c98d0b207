/** Work of a start that only one daemon does at a time. A daemon stopped in the middle delays others only for seconds. */
import { Client } from 'pg'
import { bury } from '#store/postgresql/daemons/membership.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { requireNoneEarlier } from '#store/upgrade/none-earlier.ts'
import { waitFor } from '../../support/waits.ts'
import { key, ok, read, write } from '../../contracts/kv-subject.ts'
import { Front } from '../../support/network/front.ts'
import { onPostgresql } from './on-server.ts'

const { test, postgresql } = onPostgresql()

test('turns: a silent daemon loses its turn after its removal', async (t) => {
  const address = await postgresql().database()
  await using front = await Front.to(postgresql().port)
  const stopped = await PostgresKv.open(address.replace(`:${postgresql().port}/`, `:${front.port}/`), { use: 'together', maxOutageMs: 100 })
  await using other = await PostgresKv.open(address, { use: 'together' })
  const begun = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  void stopped.daemons
    .inTurn(async () => {
      begun.resolve()
      await over.promise
    })
    .catch(() => undefined)
  await begun.promise
  front.silence()
  const members = await other.daemons.inTurn(() => postgresql().query('SELECT id FROM postern_daemons', nameIn(address)))
  t.is(members.length, 1)
  front.refuse()
  over.resolve()
  await stopped[Symbol.asyncDispose]().catch(() => undefined)
})

test('turns: a slow daemon keeps its turn', async (t) => {
  const address = await postgresql().database()
  await using one = await PostgresKv.open(address, { use: 'together' })
  await using other = await PostgresKv.open(address, { use: 'together' })
  const order: string[] = []
  let next: Promise<void> | undefined
  await one.daemons.inTurn(async () => {
    next = other.daemons.inTurn(async () => void order.push('other'))
    await postgresql().query('SELECT pg_sleep(12)') // longer than the server permits an idle session of a turn
    order.push('one')
  })
  await next
  t.deepEqual(order, ['one', 'other'])
})

test('turns: a living daemon keeps its turn after the loss of its session', async (t) => {
  const address = await postgresql().database()
  await using one = await PostgresKv.open(address, { use: 'together' })
  await using other = await PostgresKv.open(address, { use: 'together' })
  const order: string[] = []
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = one.daemons.inTurn(async () => {
    begun.resolve()
    await over.promise
    order.push('one')
  })
  await begun.promise
  const sessions = `SELECT pid FROM pg_stat_activity WHERE datname = '${nameIn(address)}' AND application_name = 'postern start'`
  await postgresql().query(`SELECT pg_terminate_backend(pid) FROM (${sessions}) AS started`)
  const next = other.daemons.inTurn(async () => void order.push('other'))
  const locked = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid IN (${sessions}) AND mode = 'ExclusiveLock'`
  const hasLock = async () => order.length > 0 || (await postgresql().query(locked)).length === 1 || undefined
  await waitFor('the other daemon has the lock', hasLock)
  over.resolve()
  await Promise.all([first, next])
  t.deepEqual(order, ['one', 'other'])
})

test('turns: a new store format waits for daemons of earlier releases', async (t) => {
  const address = await postgresql().database()
  const earlier = await PostgresKv.open(address, { use: 'together' })
  await using later = await PostgresKv.open(address, { use: 'together' })
  const begun = Promise.withResolvers<void>()
  await requireNoneEarlier(later, { format: 1, kinds: {} }, 0) // the other one waits for its own turn
  await earlier.daemons.share({ name: 'queue', start: () => begun.resolve(), stop: () => {} })
  await begun.promise
  const message = /Stop all of them, then start this release/
  await t.throwsAsync(requireNoneEarlier(later, { format: 1, kinds: {} }, 0), { name: 'StoreUnavailable', message })
  await t.throwsAsync(requireNoneEarlier(later, { format: 0, kinds: { trace: 2 } }, 0), { name: 'StoreUnavailable', message })
  await t.notThrowsAsync(requireNoneEarlier(later, { format: 0, kinds: { trace: 1 } }, 0), 'the same format: one after the other')
  const waiting = requireNoneEarlier(later, { format: 1, kinds: {} })
  await earlier.daemons.leave('queue')
  await earlier[Symbol.asyncDispose]()
  await t.notThrowsAsync(waiting)
})

test('turns: a removed daemon completes its write before others take over', async (t) => {
  const address = await postgresql().database()
  const failures: string[] = []
  const one = await PostgresKv.open(address, { use: 'together', onFailure: ({ message }) => failures.push(message) })
  await one.daemons.share({ name: 'work', start: () => {}, stop: () => {} })
  await write(one, { sets: [['a', 'before']] })
  await using other = await PostgresKv.open(address, { use: 'together' })
  const [holder, taker] = [1, 2].map(() => new Client({ connectionString: address })) as [Client, Client]
  await using ends = new AsyncDisposableStack()
  for (const client of [holder, taker]) {
    ends.defer(() => client.end())
    await client.connect()
  }
  await holder.query('BEGIN')
  await holder.query('SELECT FROM postern_rows WHERE key = $1 FOR UPDATE', [key('a')])
  const order: string[] = []
  const writing = write(one, { sets: [['a', 'under way']] }).then((outcome) => (order.push('written'), outcome))
  // Counts only the writer of the first daemon and the remover, because beats can wait for the same row.
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = '${nameIn(address)}' AND wait_event_type = 'Lock'
    AND application_name IN ('postern writes', '')`
  const wait = (count: number): Promise<unknown> =>
    waitFor('a session waits for a row', async () => (await postgresql().query(waiting)).length === count)
  await wait(1)
  const takeOut = async (): Promise<void> => {
    const first = 'SELECT id, beat FROM postern_daemons ORDER BY began LIMIT 1'
    const { rows } = await taker.query<{ id: string; beat: string }>(first)
    await bury(taker, rows[0]?.id ?? '', rows[0]?.beat ?? '')
    if ((await taker.query('SELECT FROM postern_daemons')).rowCount === 2)
      await takeOut() // its beat had changed in between
    else order.push('removed')
  }
  const taking = takeOut()
  await wait(2)
  const leases = await postgresql().query('SELECT unit FROM postern_leases', nameIn(address))
  t.is(leases.length, 1, 'its lease is not free until its write has ended')
  await holder.end()
  t.deepEqual(await writing, ok)
  await taking
  t.deepEqual(order, ['written', 'removed'])
  await t.throwsAsync(write(one, { sets: [['a', 'after']] }), { name: 'StoreFailure', message: /Other daemons removed this daemon/ })
  t.is(await read(other, 'a'), 'under way')
  t.true(failures.length > 0, 'so that it ends')
  await one[Symbol.asyncDispose]().catch(() => undefined)
})

test('daemons: a stop does not wait for a look without a response', async (t) => {
  const address = await postgresql().database()
  const kv = await PostgresKv.open(address, { use: 'together' })
  const looks = Promise.withResolvers<void>()
  kv.daemons.onBeat(() => (looks.resolve(), new Promise(() => undefined)))
  await looks.promise
  await kv[Symbol.asyncDispose]()
  t.deepEqual(await postgresql().query('SELECT id FROM postern_daemons', nameIn(address)), [])
})

const nameIn = (address: string): string => new URL(address).pathname.slice(1)

test('daemons: a new daemon counts as running at once, and until a look after its end', async (t) => {
  const address = await postgresql().database()
  await using one = await PostgresKv.open(address, { use: 'together' })
  const other = await PostgresKv.open(address, { use: 'together' })
  const { id } = other.daemons
  t.true(one.daemons.isRunning(id))
  t.true(other.daemons.isRunning(one.daemons.id))
  await other[Symbol.asyncDispose]()
  t.true(await waitFor('the daemon is known to be gone', () => !one.daemons.isRunning(id) || undefined))
})
