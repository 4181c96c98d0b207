/** Histories of several processes at one database during lost connections: each key behaves as one copy with one writer. */
import type { ExecutionContext } from 'ava'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { count, key, ok, read, write } from '../../contracts/kv-subject.ts'
import { waiting } from '../../support/waits.ts'
import { anyDatabases, Postgresql } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'
import { Seeded } from '../../support/seeded.ts'
import { Front } from '../../support/network/front.ts'
import { isLinearizable, type Apply, type Timed } from './linearizable.ts'

const test = testWith('postgresql')

type Version = bigint | 'absent'
type OnRegister =
  | { readonly name: 'read'; readonly found: Version }
  | { readonly name: 'set'; readonly made: bigint }
  | { readonly name: 'delete' }
  | { readonly name: 'set if'; readonly expected: Version; readonly made: bigint | 'conflict' }
type OnCounter = { readonly name: 'read'; readonly found: number } | { readonly name: 'add'; readonly delta: number; readonly ok: boolean }

const limit = 12

const register: Apply<Version, OnRegister> = (state, operation) => {
  if (operation.name === 'read') return operation.found === state ? state : undefined
  if (operation.name === 'set') return operation.made
  if (operation.name === 'delete') return 'absent'
  const holds = operation.expected === state
  if (operation.made === 'conflict') return holds ? undefined : state
  return holds ? operation.made : undefined
}

const counter: Apply<number, OnCounter> = (state, operation) => {
  if (operation.name === 'read') return operation.found === state ? state : undefined
  const fits = operation.delta <= 0 || state + operation.delta <= limit
  if (operation.ok !== fits) return undefined
  return fits ? state + operation.delta : state
}

/** Histories by key, in one order of calls and results. */
class Recorder<Operation> {
  readonly histories = new Map<string, Timed<Operation>[]>()
  #events = 0

  async record(name: string, work: () => Promise<Operation>): Promise<Operation> {
    const called = this.#events++
    const operation = await work()
    const history = this.histories.get(name) ?? []
    this.histories.set(name, [...history, { operation, called, answered: this.#events++ }])
    return operation
  }
}

test('isLinearizable() finds stale reads, lost updates and double effects', (t) => {
  const at = <Operation>(operation: Operation, called: number, answered: number): Timed<Operation> => ({ operation, called, answered })
  const [set1, set2] = [at<OnRegister>({ name: 'set', made: 1n }, 0, 1), at<OnRegister>({ name: 'set', made: 2n }, 2, 5)]
  const sees = (found: Version, called: number, answered: number): Timed<OnRegister> => at({ name: 'read', found }, called, answered)
  t.true(
    isLinearizable([set1, set2, sees(1n, 3, 4), sees(2n, 6, 7)], 'absent', register),
    'a read during a write returns the old or the new value',
  )
  t.false(isLinearizable([set1, set2, sees(2n, 3, 4), sees(1n, 6, 7)], 'absent', register), 'a stale read')
  const both = [1, 3].map((called) => at<OnRegister>({ name: 'set if', expected: 1n, made: BigInt(called + 10) }, called + 1, called + 4))
  t.false(isLinearizable([set1, ...both], 'absent', register), 'two writes succeeded on the same version')
  const adds = [at<OnCounter>({ name: 'add', delta: 1, ok: true }, 0, 1), at<OnCounter>({ name: 'add', delta: 1, ok: true }, 2, 3)]
  const counts = (found: number): Timed<OnCounter> => at({ name: 'read', found }, 4, 5)
  t.true(isLinearizable([...adds, counts(2)], 0, counter))
  t.false(isLinearizable([...adds, counts(1)], 0, counter), 'a lost add')
  t.false(isLinearizable([...adds, counts(3)], 0, counter), 'an add that counted twice')
})

test('histories: writes are linearizable while connections are lost', async (t) => {
  await using postgresql = await anyDatabases()
  const address = await postgresql.database()
  await using open = new AsyncDisposableStack()
  const fronts = await Promise.all([1, 2, 3].map(async () => open.use(await Front.to(postgresql.port))))
  const kvs = await Promise.all(
    fronts.map(async ({ port }) =>
      open.use(await PostgresKv.open(address.replace(String(postgresql.port), String(port)), { maxOutageMs: 60_000 })),
    ),
  )
  const registers = new Recorder<OnRegister>()
  const counters = new Recorder<OnCounter>()
  let done = 0
  const step = async (kv: PostgresKv, seeded: Seeded): Promise<void> => {
    const name = `k${seeded.between(0, 2)}`
    if (seeded.chance(0.6)) await registers.record(name, () => onRegister(kv, seeded, name))
    else await counters.record(name, () => onCounter(kv, seeded, `n${name}`))
    if (++done % 25 === 0) seeded.pick(fronts).cut()
  }
  const clients = kvs.flatMap((kv, i) => ['a', 'b'].map((name) => ({ kv, seeded: new Seeded(`client ${i} ${name}`) })))
  await Promise.all(
    clients.map(async ({ kv, seeded }) => {
      for (let i = 0; i < 60; i++) await step(kv, seeded)
    }),
  )
  t.is(done, 360)
  for (const [name, history] of registers.histories) t.true(isLinearizable<Version, OnRegister>(history, 'absent', register), name)
  for (const [name, history] of counters.histories) t.true(isLinearizable(history, 0, counter), `counter of ${name}`)
})

async function onRegister(kv: PostgresKv, seeded: Seeded, name: string): Promise<OnRegister> {
  const place = key(name)
  const set = { key: place, value: Buffer.from(String(seeded.between(0, 999))) }
  const nothing = { checks: [], sets: [], deletes: [], adds: [] }
  const choice = seeded.fraction()
  if (choice < 0.4) return { name: 'read', found: (await kv.get(place))?.version ?? 'absent' }
  if (choice < 0.5) {
    await kv.write({ ...nothing, deletes: [place] })
    return { name: 'delete' }
  }
  if (choice < 0.6) {
    const made = await kv.write({ ...nothing, sets: [set] })
    return { name: 'set', made: made.ok ? made.version : 0n }
  }
  const version = (await kv.get(place))?.version
  const result = await kv.write({ ...nothing, checks: [{ key: place, version }], sets: [set] })
  return { name: 'set if', expected: version ?? 'absent', made: result.ok ? result.version : 'conflict' }
}

async function onCounter(kv: PostgresKv, seeded: Seeded, name: string): Promise<OnCounter> {
  if (seeded.chance(0.4)) return { name: 'read', found: await count(kv, name) }
  const delta = seeded.chance(0.7) ? 1 : -1
  const { ok: isOk } = await write(kv, { adds: [{ key: name, delta, limit }] })
  return { name: 'add', delta, ok: isOk }
}

for (const [what, fails] of [
  ['crashes', (primary: Postgresql) => primary.stopServer('SIGQUIT')],
  ['hangs with open connections', async (primary: Postgresql) => primary.freeze()],
] as const)
  test(`PostgresKv: a promoted synchronous standby has all writes if the primary ${what}`, async (t) => {
    await using primary = await Postgresql.start()
    const address = await primary.database()
    await using standby = await Postgresql.standbyOf(primary)
    await primary.replicateSynchronously()
    const both = address.replace(/@[^/]*/, `@127.0.0.1:${primary.port},127.0.0.1:${standby.port}`)
    const kvs = await Promise.all([1, 2].map(() => PostgresKv.open(both, { use: 'together', maxOutageMs: 60_000 })))
    const acknowledged: string[] = []
    let next = 0
    const writer = async (kv: PostgresKv, until: number): Promise<void> => {
      while (next < until) {
        const name = `row ${next++}`
        t.deepEqual(await write(kv, { sets: [[name, name]], adds: [{ key: 'n', delta: 1 }] }), ok)
        acknowledged.push(name)
      }
    }
    const load = (until: number): Promise<unknown> => Promise.all(kvs.flatMap((kv) => [writer(kv, until), writer(kv, until)]))
    await load(100)
    const more = load(400)
    await fails(primary)
    standby.promote()
    await waiting('all writes have ended', more)
    t.is(acknowledged.length, 400)
    await assertAll(t, kvs[0]!, acknowledged)
    for (const kv of kvs) await kv[Symbol.asyncDispose]()
  })

async function assertAll(t: ExecutionContext, kv: PostgresKv, acknowledged: readonly string[]): Promise<void> {
  const found = await Promise.all(acknowledged.map((name) => read(kv, name)))
  t.deepEqual(found, [...acknowledged])
  t.is(await count(kv, 'n'), acknowledged.length, 'a repeated write counts once')
}
