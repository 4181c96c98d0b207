/** The queue over a real store with several projects: neither a backlog nor many destinations increase a project's share. */
import test, { type ExecutionContext } from '#test'
import { coreFixture, type CoreFixture, type CoreFixtureOptions } from '../core-fixture.ts'
import { hang, ScriptedTransport, take, type Call } from '../scripted-transport.ts'

const big = 'prj_big'
const small = 'prj_small'
const shared = 'dst_shared'

/** Fixture with several projects and a destination shared by all. */
async function projectsOf(
  t: ExecutionContext,
  ids: readonly string[],
  options: CoreFixtureOptions,
  changes: object = {},
): Promise<CoreFixture> {
  const fixture = await coreFixture(t, options)
  for (const id of ids) await fixture.project({ id, isDefault: false })
  await fixture.destination({ id: shared, shared: 'org', maxConnections: 1, ...changes })
  return fixture
}

const send = (fixture: CoreFixture, projectId: string, destinationId = shared) => fixture.submit({ projectId, destinationId })

async function sendMany(
  fixture: CoreFixture,
  count: number,
  projectId: string,
  destinationOf: (i: number) => string = () => shared,
): Promise<void> {
  for (let i = 0; i < count; i += 100) {
    await Promise.all(Array.from({ length: Math.min(100, count - i) }, (_, k) => send(fixture, projectId, destinationOf(i + k))))
  }
}

/** Projects of all ended attempts, in order. */
const projectsServed = (fixture: CoreFixture): string[] => fixture.attempted.map(({ trace }) => trace.projectId)

/** Attempts that end on command of the test. */
class Gates {
  readonly open: { readonly call: Call; readonly end: () => void }[] = []
  #areLeft = false

  readonly script = async (call: Call) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (this.#areLeft) resolve()
    else this.open.push({ call, end: resolve })
    await promise
    return take(call)
  }

  /** Ends all waiting and future attempts. */
  leave(): void {
    this.#areLeft = true
    for (const { end } of this.open.splice(0)) end()
  }
}

async function stop(fixture: CoreFixture, gates?: Gates): Promise<void> {
  const stopped = fixture.queue.stop(1000)
  gates?.leave()
  fixture.clock.advance(1000)
  await stopped
}

test("queue fairness: one message is not delayed by another project's backlog", async (t) => {
  const gates = new Gates()
  const fixture = await projectsOf(t, [big, small], { transport: new ScriptedTransport(gates.script), maxReady: 500 })
  await sendMany(fixture, 3000, big)
  await fixture.settled()
  t.is(gates.open.length, 2, 'two are in flight')
  await send(fixture, small)
  for (let ended = 1; ended <= 2; ended++) {
    gates.open.shift()?.end()
    await fixture.settled()
    t.deepEqual([fixture.attempted.length, gates.open.length], [ended, 2], `attempt ${ended} has ended`)
  }
  t.true(
    gates.open.some(({ call }) => call.job.traceId === fixture.queued.at(-1)?.traceId),
    'it goes next',
  )
  for (const { end } of gates.open.splice(0)) end()
  await fixture.settled()
  t.true(projectsServed(fixture).includes(small), 'it is sent')
  await stop(fixture, gates)
})

test('queue fairness: one message is not delayed by a backlog after a restart', async (t) => {
  const before = await projectsOf(t, [big, small], { deaf: true, maxReady: 500 })
  await sendMany(before, 3000, big)
  before.clock.advance(1000)
  await send(before, small)
  const fixture = await before.crash({ deaf: false })
  await fixture.queue.start()
  await fixture.daemon.saw('attempted', ({ projectId }) => projectId === small)
  const place = projectsServed(fixture).indexOf(small)
  t.true(place < 6, `it came after ${place} others`)
  await stop(fixture)
  t.is(await fixture.queueLength(), 3001 - fixture.attempted.length)
})

test('queue fairness: bounds entries in memory with equal shares, and delivers all', async (t) => {
  const ids = ['prj_a', 'prj_b', 'prj_c', 'prj_d', 'prj_e']
  const before = await projectsOf(t, ids, { deaf: true })
  for (const id of ids) await sendMany(before, 50, id)
  const gates = new Gates()
  const fixture = await before.crash({ deaf: false, transport: new ScriptedTransport(gates.script), readyTotal: 100 })
  const limits: (number | undefined)[] = []
  const range = fixture.kv.range.bind(fixture.kv)
  fixture.kv.range = (asked) => {
    limits.push(asked.limit)
    return range(asked)
  }
  await fixture.queue.start()
  await fixture.settled()
  t.is(gates.open.length, 2, 'two are in flight')
  t.deepEqual(
    limits.filter((limit) => limit !== 1 && limit !== undefined),
    ids.map(() => 20),
  )
  fixture.transport.script = (call) => take(call)
  for (const { end } of gates.open) end()
  await fixture.settled()
  t.is(fixture.attempted.length, 250, 'all are sent')
  t.is(fixture.transport.calls.length, 250)
  t.is(await fixture.queueLength(), 0)
})

test('queue fairness: projects alternate at a rate-limited destination', async (t) => {
  const ids = ['prj_a', 'prj_b', 'prj_c']
  const fixture = await projectsOf(t, ids, {}, { maxRatePerMin: 6, maxConnections: 10 })
  for (const id of ids) for (let i = 0; i < 30; i++) await send(fixture, id)
  for (let n = 1; n <= 12; n++) {
    await fixture.settled()
    t.is(fixture.attempted.length, n, `message ${n}`)
    fixture.clock.advance(10_000)
  }
  t.deepEqual(projectsServed(fixture).slice(1, 10), [...ids, ...ids, ...ids], 'the first one left before the others arrived')
  await fixture.settled()
  await stop(fixture)
})

test('queue fairness: copies and messages alternate at a rate-limited destination', async (t) => {
  const fixture = await projectsOf(t, [big, small], {}, { maxRatePerMin: 6, maxConnections: 10 })
  const rcptTo = Array.from({ length: 20 }, (_, i) => `r${i}@example.net`)
  const { traceId } = await fixture.submit({ projectId: big, destinationId: shared, rcptTo, verp: { bounceDomain: null } })
  await fixture.settled()
  t.is(fixture.transport.calls.length, 1, 'the first copy')
  for (let i = 0; i < 20; i++) await send(fixture, small)
  for (let n = 1; n <= 9; n++) {
    await fixture.settled()
    t.is(fixture.transport.calls.length, n, `begin ${n}`)
    fixture.clock.advance(10_000)
  }
  const isCopy = fixture.transport.calls.slice(0, 9).map(({ job }) => job.traceId === traceId)
  t.deepEqual(isCopy.slice(1, 9).filter(Boolean).length, 4, isCopy.join())
  t.false(
    isCopy.slice(1, 9).some((copy, i, all) => copy === all[i + 1]),
    isCopy.join(),
  )
  await fixture.settled()
  await stop(fixture)
})

test('queue fairness: projects alternate, not their destinations', async (t) => {
  const gates = new Gates()
  const fixture = await projectsOf(t, [big, small], { transport: new ScriptedTransport(gates.script), maxConnections: 1 })
  for (let i = 0; i < 20; i++) await fixture.destination({ id: `big_${i}`, projectId: big, maxConnections: 10 })
  await sendMany(fixture, 60, big, (i) => `big_${i % 20}`)
  await sendMany(fixture, 5, small)
  fixture.transport.script = (call) => take(call)
  await fixture.settled()
  t.is(gates.open.length, 1, 'one is in flight')
  gates.open[0]?.end()
  await fixture.settled()
  t.is(fixture.attempted.length, 65, 'all are sent')
  const last = projectsServed(fixture).lastIndexOf(small)
  t.true(last <= 11, `the small project was done after ${last}`)
})

test('queue fairness: scarce connections are shared evenly by 100 destinations and one', async (t) => {
  const gates = new Gates()
  const fixture = await projectsOf(
    t,
    [big, small],
    { transport: new ScriptedTransport(gates.script), maxConnections: 20 },
    { maxConnections: 10 },
  )
  for (let i = 0; i < 100; i++) await fixture.destination({ id: `big_${i}`, projectId: big, maxConnections: 10 })
  await sendMany(fixture, 200, big, (i) => `big_${i % 100}`)
  await fixture.settled()
  t.is(fixture.queue.active, 18, 'the last ones belong to another project')
  await sendMany(fixture, 100, small)
  await fixture.settled()
  t.is(fixture.queue.active, 19)
  for (let ended = 1; ended <= 40; ended++) {
    gates.open.shift()?.end()
    await fixture.settled()
    t.is(fixture.attempted.length, ended, `attempt ${ended} has ended`)
  }
  t.is(gates.open.length, 18)
  const shares = Object.groupBy(gates.open, ({ call }) => (call.target.destinationId === shared ? small : big))
  t.deepEqual([shares[small]?.length, shares[big]?.length], [7, 11])
  fixture.transport.script = (call) => take(call)
  for (const { end } of gates.open) end()
  await fixture.settled()
  t.is(fixture.attempted.length, 300, 'all are sent')
  t.is(await fixture.queueLength(), 0)
})

test('queue fairness: a project is served while all destinations of another hang', async (t) => {
  const transport = new ScriptedTransport((call) => (call.target.destinationId === shared ? take(call) : hang(call)))
  const fixture = await projectsOf(t, [big, small], { transport, maxConnections: 20 })
  for (let i = 0; i < 60; i++) await fixture.destination({ id: `big_${i}`, projectId: big, maxConnections: 10 })
  await sendMany(fixture, 600, big, (i) => `big_${i % 60}`)
  await fixture.settled()
  t.is(fixture.queue.active, 18)
  await sendMany(fixture, 50, small)
  await fixture.settled()
  t.is(fixture.attempted.length, 50, 'the small project is served')
  t.deepEqual([...new Set(projectsServed(fixture))], [small])
  await stop(fixture)
})

test('queue fairness: skips a project with its full share at a common destination', async (t) => {
  const gates = new Gates()
  const fixture = await projectsOf(t, [big, small], { transport: new ScriptedTransport(gates.script), maxConnections: 20 })
  for (let i = 0; i < 60; i++) await fixture.destination({ id: `big_${i}`, projectId: big, maxConnections: 10 })
  await sendMany(fixture, 40, big)
  await fixture.settled()
  await sendMany(fixture, 600, big, (i) => `big_${i % 60}`)
  await fixture.settled()
  t.is(fixture.queue.active, 18, 'of these two are at the shared destination')
  await send(fixture, small)
  await fixture.settled()
  gates.open[0]?.end()
  await fixture.settled()
  t.true(
    gates.open.some(({ call }) => call.job.traceId === fixture.queued.at(-1)?.traceId),
    'it is in flight',
  )
  gates.open[1]?.end()
  t.is(gates.open[1]?.call.target.destinationId, shared)
  fixture.transport.script = (call) => take(call)
  for (const { end } of gates.open) end()
  await fixture.settled()
  t.is(fixture.attempted.length, 641, 'all are sent')
})
