/** The queue over a real store with several projects: neither a backlog nor many destinations give a project a larger part. */
import test, { type ExecutionContext } from 'ava'
import { houseOf, quiet, until, type House, type HouseOptions } from '../house.ts'
import { hang, ScriptedTransport, take, type Call } from '../scripted-transport.ts'

const big = 'prj_big'
const small = 'prj_small'
const shared = 'dst_shared'

/** A house with some projects and a destination that belongs to all of them. */
async function projectsOf(t: ExecutionContext, ids: readonly string[], options: HouseOptions, changes: object = {}): Promise<House> {
  const house = await houseOf(t, options)
  for (const id of ids) await house.project({ id, isDefault: false })
  await house.destination({ id: shared, shared: 'org', maxConnections: 1, ...changes })
  return house
}

const send = (house: House, projectId: string, destinationId = shared) => house.submit({ projectId, destinationId })

async function sendMany(
  house: House,
  count: number,
  projectId: string,
  destinationOf: (i: number) => string = () => shared,
): Promise<void> {
  for (let i = 0; i < count; i += 100) {
    await Promise.all(Array.from({ length: Math.min(100, count - i) }, (_, k) => send(house, projectId, destinationOf(i + k))))
  }
}

/** The projects of all attempts that have ended, in order. */
const projectsServed = (house: House): string[] => house.attempted.map(({ trace }) => trace.projectId)

/** Attempts that end when the test says so. */
class Gates {
  readonly open: { readonly call: Call; readonly end: () => void }[] = []
  readonly script = async (call: Call) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.open.push({ call, end: resolve })
    await promise
    return take(call)
  }
}

async function stop(house: House, { open }: Gates = new Gates()): Promise<void> {
  const stopped = house.queue.stop(1000)
  for (const { end } of open.splice(0)) end()
  house.clock.advance(1000)
  await stopped
}

test('DeliveryQueue sends the one message of a project while another has thousands for the same destination', async (t) => {
  const gates = new Gates()
  const house = await projectsOf(t, [big, small], { transport: new ScriptedTransport(gates.script), maxReady: 500 })
  await sendMany(house, 3000, big)
  await until('two are under way', () => gates.open.length === 2)
  await send(house, small)
  for (let ended = 1; ended <= 2; ended++) {
    gates.open.shift()?.end()
    await until(`attempt ${ended} is over`, () => house.attempted.length === ended && gates.open.length === 2)
  }
  t.true(
    gates.open.some(({ call }) => call.job.traceId === house.queued.at(-1)?.traceId),
    'it goes next',
  )
  for (const { end } of gates.open.splice(0)) end()
  await until('it is sent', () => projectsServed(house).includes(small))
  await stop(house, gates)
})

test('DeliveryQueue sends the one message of a project after a restart that finds a backlog of thousands before it', async (t) => {
  const before = await projectsOf(t, [big, small], { deaf: true, maxReady: 500 })
  await sendMany(before, 3000, big)
  before.clock.advance(1000)
  await send(before, small)
  const house = await before.crash({ deaf: false })
  await house.queue.start()
  await until('it is sent', () => projectsServed(house).includes(small))
  const place = projectsServed(house).indexOf(small)
  t.true(place < 6, `it came after ${place} others`)
  await stop(house)
  t.is(await house.queueLength(), 3001 - house.attempted.length)
})

test('DeliveryQueue keeps no more entries in memory than it may, in equal shares, and still delivers all', async (t) => {
  const ids = ['prj_a', 'prj_b', 'prj_c', 'prj_d', 'prj_e']
  const before = await projectsOf(t, ids, { deaf: true })
  for (const id of ids) await sendMany(before, 50, id)
  const gates = new Gates()
  const house = await before.crash({ deaf: false, transport: new ScriptedTransport(gates.script), readyTotal: 100 })
  const limits: (number | undefined)[] = []
  const range = house.kv.range.bind(house.kv)
  house.kv.range = (asked) => {
    limits.push(asked.limit)
    return range(asked)
  }
  await house.queue.start()
  await until('two are under way', () => gates.open.length === 2)
  t.deepEqual(
    limits.filter((limit) => limit !== 1 && limit !== undefined),
    ids.map(() => 20),
  )
  house.transport.script = (call) => take(call)
  for (const { end } of gates.open) end()
  await until('all are sent', () => house.attempted.length === 250)
  t.is(house.transport.calls.length, 250)
  t.is(await house.queueLength(), 0)
})

test('DeliveryQueue serves projects in turn where the destination has a rate', async (t) => {
  const ids = ['prj_a', 'prj_b', 'prj_c']
  const house = await projectsOf(t, ids, {}, { maxRatePerMin: 6, maxConnections: 10 })
  for (const id of ids) for (let i = 0; i < 30; i++) await send(house, id)
  for (let n = 1; n <= 12; n++) {
    await until(`message ${n}`, () => house.attempted.length === n)
    await quiet(house)
    house.clock.advance(10_000)
  }
  t.deepEqual(projectsServed(house).slice(1, 10), [...ids, ...ids, ...ids], 'the first one went before the others came')
  await quiet(house)
  await stop(house)
})

test('DeliveryQueue serves copies of one message and other messages in turn where the destination has a rate', async (t) => {
  const house = await projectsOf(t, [big, small], {}, { maxRatePerMin: 6, maxConnections: 10 })
  const rcptTo = Array.from({ length: 20 }, (_, i) => `r${i}@example.net`)
  const { traceId } = await house.submit({ projectId: big, destinationId: shared, rcptTo, verp: { bounceDomain: null } })
  await until('the first copy', () => house.transport.calls.length === 1)
  for (let i = 0; i < 20; i++) await send(house, small)
  for (let n = 1; n <= 9; n++) {
    await until(`begin ${n}`, () => house.transport.calls.length === n)
    await quiet(house)
    house.clock.advance(10_000)
  }
  const isCopy = house.transport.calls.slice(0, 9).map(({ job }) => job.traceId === traceId)
  t.deepEqual(isCopy.slice(1, 9).filter(Boolean).length, 4, isCopy.join())
  t.false(
    isCopy.slice(1, 9).some((copy, i, all) => copy === all[i + 1]),
    isCopy.join(),
  )
  await quiet(house)
  await stop(house)
})

test('DeliveryQueue gives turns to projects, not to their destinations', async (t) => {
  const gates = new Gates()
  const house = await projectsOf(t, [big, small], { transport: new ScriptedTransport(gates.script), maxConnections: 1 })
  for (let i = 0; i < 20; i++) await house.destination({ id: `big_${i}`, projectId: big, maxConnections: 10 })
  await sendMany(house, 60, big, (i) => `big_${i % 20}`)
  await sendMany(house, 5, small)
  house.transport.script = (call) => take(call)
  await until('one is under way', () => gates.open.length === 1)
  gates.open[0]?.end()
  await until('all are sent', () => house.attempted.length === 65)
  const last = projectsServed(house).lastIndexOf(small)
  t.true(last <= 11, `the small project was done after ${last}`)
})

test('DeliveryQueue shares scarce connections evenly between a project of 100 destinations and one of one', async (t) => {
  const gates = new Gates()
  const house = await projectsOf(
    t,
    [big, small],
    { transport: new ScriptedTransport(gates.script), maxConnections: 20 },
    { maxConnections: 10 },
  )
  for (let i = 0; i < 100; i++) await house.destination({ id: `big_${i}`, projectId: big, maxConnections: 10 })
  await sendMany(house, 200, big, (i) => `big_${i % 100}`)
  await quiet(house)
  t.is(house.queue.active, 18, 'the last ones are for another project')
  await sendMany(house, 100, small)
  await quiet(house)
  t.is(house.queue.active, 19)
  for (let ended = 1; ended <= 40; ended++) {
    gates.open.shift()?.end()
    await until(`attempt ${ended} is over`, () => house.attempted.length === ended)
    await quiet(house)
  }
  t.is(gates.open.length, 18)
  const shares = Object.groupBy(gates.open, ({ call }) => (call.target.destinationId === shared ? small : big))
  t.deepEqual([shares[small]?.length, shares[big]?.length], [7, 11])
  house.transport.script = (call) => take(call)
  for (const { end } of gates.open) end()
  await until('all are sent', () => house.attempted.length === 300)
  t.is(await house.queueLength(), 0)
})

test('DeliveryQueue sends the mail of a project while all destinations of another hang under a backlog', async (t) => {
  const transport = new ScriptedTransport((call) => (call.target.destinationId === shared ? take(call) : hang(call)))
  const house = await projectsOf(t, [big, small], { transport, maxConnections: 20 })
  for (let i = 0; i < 60; i++) await house.destination({ id: `big_${i}`, projectId: big, maxConnections: 10 })
  await sendMany(house, 600, big, (i) => `big_${i % 60}`)
  await quiet(house)
  t.is(house.queue.active, 18)
  await sendMany(house, 50, small)
  await until('the small project is served', () => house.attempted.length === 50)
  t.deepEqual([...new Set(projectsServed(house))], [small])
  await stop(house)
})

test('DeliveryQueue passes a project by that has its part, also where both wait for the same destination', async (t) => {
  const gates = new Gates()
  const house = await projectsOf(t, [big, small], { transport: new ScriptedTransport(gates.script), maxConnections: 20 })
  for (let i = 0; i < 60; i++) await house.destination({ id: `big_${i}`, projectId: big, maxConnections: 10 })
  await sendMany(house, 40, big)
  await quiet(house)
  await sendMany(house, 600, big, (i) => `big_${i % 60}`)
  await quiet(house)
  t.is(house.queue.active, 18, 'of these two are at the shared destination')
  await send(house, small)
  await quiet(house)
  gates.open[0]?.end()
  await until('it is under way', () => gates.open.some(({ call }) => call.job.traceId === house.queued.at(-1)?.traceId))
  await quiet(house)
  gates.open[1]?.end()
  t.is(gates.open[1]?.call.target.destinationId, shared)
  house.transport.script = (call) => take(call)
  for (const { end } of gates.open) end()
  await until('all are sent', () => house.attempted.length === 641)
})
