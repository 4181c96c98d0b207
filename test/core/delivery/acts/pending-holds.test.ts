/** Holds of messages with an attempt in flight: a hold released before the end does not park the message. */
import test, { type ExecutionContext } from '#test'
import { obeyAct } from '#core/delivery/acts/obey.ts'
import { traces } from '#core/trace/trace.ts'
import { Change, encode } from '#store/change.ts'
import { queueHead } from '#store/queue.ts'
import { indexPrefix } from '#store/record-kind.ts'
import { formatKey } from '#store/upgrade/store-form.ts'
import { organizationId, principal, projectId, relaying, type CoreFixture } from '../../core-fixture.ts'
import { take } from '../../scripted-transport.ts'
import { act, ended, states, steered } from './acting.ts'

const all = { destinationId: 'dst_1' }
const hour = 60 * 60_000

/** A message whose attempt has sent its final dot, and fails temporarily on command of the test. */
async function inFlight(t: ExecutionContext): Promise<{ fixture: CoreFixture; traceId: string; end: () => Promise<void> }> {
  const way = steered()
  const fixture = await relaying(t, way.script)
  const { traceId } = await fixture.submit()
  way.mayDot.resolve()
  await way.dotted.promise
  const end = async (): Promise<void> => {
    fixture.transport.script = (call) => take(call)
    way.mayEnd.resolve()
    await fixture.settled()
  }
  return { fixture, traceId, end }
}

/** Checks that the message waits for its retry, which sends it. */
async function assertRetried(t: ExecutionContext, fixture: CoreFixture, traceId: string): Promise<void> {
  t.deepEqual(await states(fixture), ['retry'])
  await fixture.assertSound(t)
  fixture.clock.advance(hour)
  await fixture.settled()
  t.like(await fixture.trace(traceId), { status: 'sent', attempts: 2 })
  t.is(await fixture.queueLength(), 0)
  await fixture.assertSound(t)
}

test('pending hold: has no effect if released before the attempt ends', async (t) => {
  const { fixture, traceId, end } = await inFlight(t)
  t.like(await act(fixture, { act: 'hold', filter: all }), { counters: { acted: 1, inFlight: 1 } })
  t.like(await act(fixture, { act: 'release', filter: all }), { expected: 1, counters: { acted: 1, inFlight: 1, skipped: 0 } })
  await end()
  t.is(fixture.attempted.length, 1, 'the attempt has ended')
  await assertRetried(t, fixture, traceId)
  t.deepEqual(
    (await fixture.trace(traceId)).queueActs?.map(({ act: name }) => name),
    ['hold', 'release'],
  )
})

test('pending hold: listed and counted as not held until the attempt ends', async (t) => {
  const { fixture, traceId, end } = await inFlight(t)
  await act(fixture, { act: 'hold', filter: all, reason: 'incident' })
  const { queueActs } = fixture.core
  const seen = async (isHeld: boolean) => ({
    rows: (await queueActs.waiting(principal, { limit: 9, isHeld })).rows.map(({ state, held }) => [state, held?.reason]),
    matched: (await queueActs.counts(principal, { isHeld })).matched,
  })
  t.deepEqual(
    [await seen(false), await seen(true)],
    [
      { rows: [['attempting', 'incident']], matched: 1 },
      { rows: [], matched: 0 },
    ],
  )
  await end()
  t.deepEqual(
    [await seen(false), await seen(true)],
    [
      { rows: [], matched: 0 },
      { rows: [['held', 'incident']], matched: 1 },
    ],
  )
  t.like(await fixture.trace(traceId), { attempts: 1 })
})

test('pending hold: a standing hold released during the attempt has no effect', async (t) => {
  const { fixture, traceId, end } = await inFlight(t)
  const { queueHolds } = fixture.core
  const hold = await queueHolds.create({ principal }, { filter: all })
  await fixture.settled()
  t.like(await fixture.core.queueActs.get(principal, hold.actId), { counters: { acted: 1, inFlight: 1 } })
  fixture.clock.advance(1)
  t.like(await ended(fixture, await queueHolds.release({ principal }, hold.id)), { counters: { acted: 1, inFlight: 1 } })
  await end()
  t.is(fixture.attempted.length, 1, 'the attempt has ended')
  await assertRetried(t, fixture, traceId)
})

test('pending hold: stays in force if a release concerns other messages or acts', async (t) => {
  const { fixture, traceId, end } = await inFlight(t)
  const held = await act(fixture, { act: 'hold', filter: all })
  for (const filter of [{ toDomain: 'other.example' }, { minAttempts: 1 }, { heldBy: 'qac_other' }, { acceptedBefore: 1 }])
    t.like(await act(fixture, { act: 'release', filter }), { expected: 0, counters: { acted: 0, skipped: 0 } }, JSON.stringify(filter))
  await end()
  t.deepEqual(await states(fixture), ['held'])
  await fixture.assertSound(t)
  t.like(await act(fixture, { act: 'release', filter: { heldBy: held.id } }), { counters: { acted: 1, inFlight: 0 } })
  await assertRetried(t, fixture, traceId)
})

test('pending hold: holding again after a release parks the message at the end', async (t) => {
  const { fixture, end } = await inFlight(t)
  for (const name of ['hold', 'release', 'hold'] as const) await act(fixture, { act: name, filter: all })
  await end()
  t.deepEqual(await states(fixture), ['held'])
  await fixture.assertSound(t)
})

test('pending hold: a release works after a crash and before the attempt counts', async (t) => {
  const { fixture: first, traceId } = await inFlight(t)
  await act(first, { act: 'hold', filter: all })
  first.transport.script = (call) => take(call)
  const fixture = await first.crash()
  t.like(await act(fixture, { act: 'release', filter: all }), { counters: { acted: 1, inFlight: 1 } })
  await fixture.queue.start()
  await fixture.settled()
  t.deepEqual(await states(fixture), [])
  t.like(await fixture.trace(traceId), { status: 'sent', attempts: 2 })
  await fixture.assertSound(t)
})

test('pending hold: an interrupted release reaches it after a crash', async (t) => {
  const { fixture: first, traceId } = await inFlight(t)
  await act(first, { act: 'hold', filter: all })
  first.transport.script = (call) => take(call)
  const { queueActs } = first.core
  first.clock.advance(1)
  const { id } = await queueActs.create({ principal }, { act: 'release', filter: all, expected: 1 })
  const fixture = await first.crash()
  await fixture.part('actRunner').start()
  await fixture.settled()
  t.like(await fixture.core.queueActs.get(principal, id), { status: 'finished', counters: { acted: 1 } })
  await fixture.queue.start()
  await fixture.settled()
  t.like(await fixture.trace(traceId), { status: 'sent', attempts: 2 })
  await fixture.assertSound(t)
})

test('pending hold: a store of an earlier release supports release by filter', async (t) => {
  const { fixture: first, traceId } = await inFlight(t)
  await act(first, { act: 'hold', filter: all })
  first.transport.script = (call) => take(call)
  const earlier = new Change().delete([...indexPrefix(traces.name, organizationId, 'pendingHold'), traceId])
  await first.database.commit(earlier.set(formatKey, encode(4)))
  t.is((await first.problems()).length, 1)
  const fixture = await first.crash()
  await fixture.assertSound(t)
  t.like(await act(fixture, { act: 'release', filter: all }), { counters: { acted: 1, inFlight: 1 } })
  await fixture.queue.start()
  await fixture.settled()
  t.like(await fixture.trace(traceId), { status: 'sent', attempts: 2 })
  await fixture.assertSound(t)
})

test('pending hold: a message delayed by a defect stays queued after its hold is gone', async (t) => {
  const fixture = await relaying(t, () => Promise.reject(new Error('a defect')))
  await fixture.submit()
  await fixture.settled()
  t.is(fixture.errors.splice(0).length, 1)
  const [resting] = await queueHead(fixture.database, { destinationId: 'dst_1', projectId }, { limit: 1 })
  if (!resting) return t.fail('it does not rest')
  t.deepEqual(await obeyAct(fixture.context, resting), resting)
})
