/** Released messages leave in order of acceptance. */
import test, { type ExecutionContext } from '#test'
import { heldLength } from '#store/queue.ts'
import { overhear } from '../../../support/overhear.ts'
import { principal, relaying, type CoreFixture, type CoreFixtureOptions } from '../../core-fixture.ts'
import { report, take } from '../../scripted-transport.ts'
import { act, beforeFirstMessage, begun, ended, states, steered } from './acting.ts'

const all = { destinationId: 'dst_1' }
const hour = 60 * 60_000
/** A number of messages that exceeds the queue in memory, so that the store determines the order. */
const many = 250

/** Submits messages one after the other; returns their ids in order. */
async function submitAll(fixture: CoreFixture, n: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < n; i++) {
    fixture.clock.advance(1)
    ids.push((await fixture.submit()).traceId)
  }
  await fixture.settled()
  return ids
}

/** Messages under a standing hold for an hour. */
async function heldAll(t: ExecutionContext, n: number, options: CoreFixtureOptions = {}) {
  const fixture = await relaying(t, (call) => take(call), options)
  const hold = await fixture.core.queueHolds.create({ principal }, { filter: all })
  const ids = await submitAll(fixture, n)
  t.is(fixture.transport.calls.length, 0, 'all are held')
  fixture.clock.advance(hour)
  const lift = () => fixture.core.queueHolds.release({ principal }, hold.id)
  return { fixture, ids, lift }
}

/** Concurrent attempts of a destination with one connection, whose reads may end in any order. */
const abreast = 2

/** Checks the order of first attempts from an attempt on, as far as the queue determines it. */
function leftInOrder(t: ExecutionContext, { transport }: CoreFixture, ids: readonly string[], from = 0): void {
  const left = [...ids]
  for (const traceId of new Set(transport.calls.slice(from).map(({ job }) => job.traceId))) {
    const at = left.indexOf(traceId)
    t.true(at >= 0 && at < abreast, `${traceId} is ${String(at)} places early`)
    left.splice(at, 1)
  }
  t.deepEqual(left, [])
}

test('queue order: held messages leave in order of acceptance after release', async (t) => {
  const { fixture, ids, lift } = await heldAll(t, many)
  t.is(await heldLength(fixture.database), many)
  await ended(fixture, await lift())
  leftInOrder(t, fixture, ids)
  t.is(await fixture.queueLength(), 0)
  await fixture.assertSound(t)
})

test('queue order: held messages keep their order if the release crashes', async (t) => {
  const { fixture: first, ids, lift } = await heldAll(t, many)
  const cut = Promise.withResolvers<void>()
  let released = 0
  overhear(first.queue, 'offer', () => void (++released === 40 && cut.resolve(first.kv.cut())))
  await lift()
  await cut.promise
  const fixture = await first.crash()
  await fixture.queue.start()
  await fixture.part('actRunner').start()
  await fixture.settled()
  leftInOrder(t, fixture, ids)
  await fixture.assertSound(t)
})

test('queue order: a newly due message waits during the read of older messages', async (t) => {
  const maxReady = 77
  const first = await relaying(t, (call) => take(call), { deaf: true, maxReady })
  const older = await submitAll(first, 9)
  const fixture = await first.crash({ deaf: false })
  const [mayRead, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const range = fixture.kv.range.bind(fixture.kv)
  fixture.kv.range = async function* (rows) {
    if (rows.limit === maxReady) asked.resolve()
    if (rows.limit === maxReady) await mayRead.promise
    yield* range(rows)
  }
  await fixture.queue.start()
  await asked.promise
  const ids = [...older, (await fixture.submit()).traceId]
  mayRead.resolve()
  await fixture.settled()
  leftInOrder(t, fixture, ids)
  await fixture.assertSound(t)
})

test('queue order: deferred messages leave in order of acceptance after a late release', async (t) => {
  let draws = 0
  const options = { retry: { jitter: 0.9 }, random: () => (draws++ * 0.37) % 1 }
  const fixture = await relaying(t, (call) => report(call, 'transient'), options)
  const ids = await submitAll(fixture, 60)
  await act(fixture, { act: 'hold', filter: all })
  fixture.clock.advance(hour)
  fixture.transport.script = (call) => take(call)
  t.like(await act(fixture, { act: 'release', filter: all }), { counters: { acted: 60 } })
  leftInOrder(t, fixture, ids, 60)
  await fixture.assertSound(t)
})

test('queue order: a released scheduled send keeps its time or position', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const hold = await fixture.core.queueHolds.create({ principal }, { filter: all })
  const start = fixture.clock.now()
  const { traceId: past } = await fixture.submit({ sendAt: start + hour })
  const { traceId: future } = await fixture.submit({ sendAt: start + 3 * hour })
  await act(fixture, { act: 'hold', filter: { traceIds: [future] } })
  const [before = ''] = await submitAll(fixture, 1)
  fixture.clock.advance(hour)
  await fixture.settled()
  const [after = ''] = await submitAll(fixture, 1)
  fixture.clock.advance(hour)
  const offered: (readonly [string, number])[] = []
  overhear(fixture.queue, 'offer', ({ traceId, dueMs }) => void offered.push([traceId, dueMs]))
  await ended(fixture, await fixture.core.queueHolds.release({ principal }, hold.id))
  t.deepEqual(offered, [
    [before, start + 2],
    [past, start + hour],
    [after, start + hour + 3],
  ])
  leftInOrder(t, fixture, [before, past, after])
  await act(fixture, { act: 'release', filter: { traceIds: [future] } })
  t.is((await fixture.trace(future)).nextAttemptAt, start + 3 * hour)
  fixture.clock.advance(hour)
  await fixture.settled()
  leftInOrder(t, fixture, [future], 3)
  await fixture.assertSound(t)
})

test('queue order: a hold reaches a message that another act moves past its walk', async (t) => {
  const way = steered()
  const fixture = await relaying(t, way.script)
  await fixture.submit()
  await way.began.promise
  const [released = ''] = await submitAll(fixture, 1)
  await act(fixture, { act: 'hold', filter: { traceIds: [released] } })
  await submitAll(fixture, 1)
  beforeFirstMessage(fixture, async () => {
    const offered = Promise.withResolvers<void>()
    overhear(fixture.queue, 'offer', () => offered.resolve())
    await begun(fixture, { act: 'release', filter: { traceIds: [released] } })
    await offered.promise
  })
  t.like(await ended(fixture, await begun(fixture, { act: 'hold', filter: all })), { counters: { acted: 3, skipped: 0 } })
  t.deepEqual(await states(fixture), ['held', 'held', 'held'])
  way.mayDot.resolve()
  await fixture.settled()
  await fixture.assertSound(t)
})
