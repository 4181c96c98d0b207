/** Counters and tallies under concurrent writes of several processes: exact limits without waits. */
import { Client } from 'pg'
import { counterOf, kinds, kindOf } from '#store/engine/codec.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { decodeCounts } from '#store/tally.ts'
import { check, count, key, ok, write } from '../../contracts/kv-subject.ts'
import { onPostgresql } from './on-server.ts'
import { Seeded } from '../../support/seeded.ts'
import { waiting } from '../../support/waits.ts'
import { isLinearizable, type Apply, type Timed } from './linearizable.ts'

const { test, postgresql } = onPostgresql()

async function several(
  number: number,
  address: string,
): Promise<AsyncDisposable & { readonly kvs: readonly [PostgresKv, ...PostgresKv[]] }> {
  const kvs = await Promise.all(Array.from({ length: number }, () => PostgresKv.open(address)))
  return {
    kvs: kvs as [PostgresKv, ...PostgresKv[]],
    async [Symbol.asyncDispose]() {
      for (const kv of kvs) await kv[Symbol.asyncDispose]()
    },
  }
}

const partsIn = async (address: string): Promise<number> => {
  const [row] = await postgresql().query('SELECT count(*)::int AS parts FROM postern_parts', address.split('/').at(-1))
  return Number(row?.['parts'])
}

test('parts: processes that add to a counter or check a key do not wait', async (t) => {
  const address = await postgresql().database()
  await using all = await several(2, address)
  const [a, b] = all.kvs as [PostgresKv, PostgresKv]
  await write(a, { sets: [['settings', 'x']] })
  const add = (kv: PostgresKv, name: string, limit?: number) =>
    write(kv, { adds: [{ key: name, delta: 1, ...(limit !== undefined && { limit }) }] })
  for (let i = 0; i < 6; i++) {
    for (const kv of [a, b]) {
      t.deepEqual(await add(kv, 'free'), ok)
      t.deepEqual(await add(kv, 'bounded', 1000), ok)
    }
  }
  t.is(await partsIn(address), 4, 'two counters of two processes')
  const other = new Client({ connectionString: address })
  await other.connect()
  await other.query('BEGIN')
  await other.query('SELECT FROM postern_rows WHERE key = ANY($1) FOR SHARE', [['free', 'bounded', 'settings'].map(key)])
  const beside = { checks: [await check(a, 'settings')], sets: [['own', 'x']] as const, adds: [{ key: 'free', delta: 1 }] }
  t.deepEqual(await waiting('a write during an open transaction', write(a, beside)), ok)
  t.deepEqual(await waiting('an add with a limit', add(b, 'bounded', 1000)), ok)
  await other.query('ROLLBACK')
  await other.end()
  t.deepEqual([await count(b, 'free'), await count(a, 'bounded')], [13, 13])
})

test('parts: several processes meet a limit exactly, also a changed one', async (t) => {
  const address = await postgresql().database()
  await using all = await several(3, address)
  const add = (kv: PostgresKv, limit: number, delta = 1) => write(kv, { adds: [{ key: 'n', delta, limit }] })
  const addMany = async (each: number, limit: number): Promise<number> => {
    const results = await Promise.all(all.kvs.flatMap((kv) => Array.from({ length: each }, () => add(kv, limit))))
    return results.filter((one) => one.ok).length
  }
  for (let i = 0; i < 9; i++) await add(all.kvs[i % 3]!, 70)
  t.is(await addMany(30, 70), 61)
  t.is(await count(all.kvs[0], 'n'), 70)
  t.true((await partsIn(address)) > 1)
  t.is(await addMany(10, 71), 1, 'one more than before')
  t.is(await addMany(10, 40), 0, 'a limit that was lowered')
  t.deepEqual(await add(all.kvs[1]!, 40, -41), ok)
  t.is(await addMany(10, 40), 10)
  {
    await using later = await several(2, address)
    t.deepEqual(await add(later.kvs[1]!, 1000, 500), ok)
    t.is(await count(later.kvs[0], 'n'), 540)
  }
  t.is(await addMany(200, 1000), 460)
  t.is(await count(all.kvs[2]!, 'n'), 1000)
  t.deepEqual(await write(all.kvs[0], { deletes: ['n'] }), ok)
  t.is(await partsIn(address), 0)
  t.is(await addMany(10, 12), 12, 'a counter without a value')
})

test('parts: an add without a limit reduces the remainder for other adds', async (t) => {
  await using all = await several(2, await postgresql().database())
  const [a, b] = all.kvs as [PostgresKv, PostgresKv]
  const add = (kv: PostgresKv, delta: number, limit?: number) =>
    write(kv, { adds: [{ key: 'n', delta, ...(limit !== undefined && { limit }) }] })
  for (let i = 0; i < 6; i++) for (const kv of [a, b]) t.deepEqual(await add(kv, 1, 100), ok)
  t.deepEqual(await add(a, 80), ok)
  t.like(await add(b, 9, 100), { ok: false, reason: 'limit' })
  t.deepEqual(await add(b, 8, 100), ok)
  t.deepEqual(await add(a, 5), ok, 'no limit')
  t.deepEqual(await add(b, -3, 100), ok)
  t.like(await add(b, 1, 100), { ok: false, reason: 'limit' }, 'still over the limit')
  t.like(await add(a, 1, 101), { ok: false, reason: 'limit' })
  t.is(await count(b, 'n'), 102)
})

test('parts: tallies of several processes add up to one value, also in a snapshot', async (t) => {
  await using all = await several(3, await postgresql().database())
  const tally = (kv: PostgresKv, name: string) =>
    kv.write({
      ...{ checks: [], sets: [], deletes: [], adds: [{ key: key('n'), delta: 2 }] },
      tallies: [
        { key: key('day'), names: ['a', name] },
        { key: key('few'), names: [name], maxSubjects: 3 },
      ],
    })
  await Promise.all(all.kvs.flatMap((kv, i) => Array.from({ length: 10 }, async () => t.deepEqual((await tally(kv, `k${i}`)).ok, true))))
  for (let i = 0; i < 10; i++) for (const kv of all.kvs) await tally(kv, 'late')
  const expected = { a: 60, k0: 10, k1: 10, k2: 10, late: 30 }
  const inOrder = (counts: ReadonlyMap<string, number>) => Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const [kv] = all.kvs
  t.deepEqual(inOrder(decodeCounts((await kv.get(key('day')))!.value)), expected)
  const range: string[] = []
  for await (const entry of kv.range({ start: key('a'), end: key('few') })) {
    range.push(entry.key.toString())
    t.deepEqual(inOrder(decodeCounts(entry.value)), expected)
  }
  t.is(range.length, 1, 'a range returns no counters')
  await using snapshot = await kv.snapshot()
  await tally(kv, 'too late')
  for await (const { key: place, body } of snapshot.rows) {
    if (place[0] === 0xff || Buffer.compare(place, key('few')) === 0) continue
    if (kindOf(body) === kinds.counter) t.is(counterOf(body), 120)
    else t.deepEqual(inOrder(decodeCounts(body.subarray(9))), expected)
  }
  const few = decodeCounts((await kv.get(key('few')))!.value)
  t.true([...few.keys()].filter((name) => name.length > 1).length <= 3, 'at most three subjects')
  t.is([...few].reduce((sum, [, n]) => sum + n, 0), 61, 'no count is lost') // prettier-ignore
})

type OnCounter =
  | { readonly name: 'read'; readonly found: number }
  | { readonly name: 'delete' }
  | { readonly name: 'add'; readonly delta: number; readonly limit: number | undefined; readonly ok: boolean }

const counter: Apply<number, OnCounter> = (state, operation) => {
  if (operation.name === 'read') return operation.found === state ? state : undefined
  if (operation.name === 'delete') return 0
  const { delta, limit = Infinity } = operation
  const fits = delta <= 0 || state + delta <= limit
  if (operation.ok !== fits) return undefined
  return fits ? state + delta : state
}

async function act(kv: PostgresKv, seeded: Seeded): Promise<OnCounter> {
  const choice = seeded.fraction()
  if (choice < 0.3) return { name: 'read', found: await count(kv, 'n') }
  if (choice < 0.33) {
    await write(kv, { deletes: ['n'] })
    return { name: 'delete' }
  }
  const delta = seeded.chance(0.75) ? seeded.between(1, 3) : -seeded.between(1, 4)
  const limit = seeded.pick([undefined, 20, 20, 20, 14])
  const { ok: isOk } = await write(kv, { adds: [{ key: 'n', delta, ...(limit !== undefined && { limit }) }] })
  return { name: 'add', delta, limit, ok: isOk }
}

test('parts: adds, deletes and reads of several processes are linearizable', async (t) => {
  for (let round = 0; round < 6; round++) {
    const address = await postgresql().database()
    await using all = await several(3, address)
    const history: Timed<OnCounter>[] = []
    let events = 0
    const step = async (kv: PostgresKv, seeded: Seeded): Promise<void> => {
      const called = events++
      const operation = await act(kv, seeded)
      history.push({ operation, called, answered: events++ })
    }
    await Promise.all(
      all.kvs.flatMap((kv, i) =>
        ['a', 'b'].map(async (name) => {
          const seeded = new Seeded(`parts ${round} ${i} ${name}`)
          for (let n = 0; n < 40; n++) await step(kv, seeded)
        }),
      ),
    )
    t.true(isLinearizable(history, 0, counter), `round ${round}`)
  }
})
