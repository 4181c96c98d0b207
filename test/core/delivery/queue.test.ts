/** The queue over a real store: order of connections; no entry is lost or processed twice. */
import test from '#test'
import { coreFixture } from '../core-fixture.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { queue, sent, submitTo } from '../queue-fixture.ts'
import { hang, report, ScriptedTransport, take } from '../scripted-transport.ts'

const minute = 60_000
const hour = 60 * minute

test('DeliveryQueue: delivers accepted messages from memory, once', async (t) => {
  const fixture = await coreFixture(t)
  await queue(fixture, 'dst_1')
  const { traceId, outcome } = await submitTo(fixture, 'dst_1')
  t.is(outcome, 'relayed')
  await fixture.settled()
  t.is(sent(fixture), 1, 'sent')
  t.is((await fixture.trace(traceId)).status, 'sent')
  t.is(await fixture.queueLength(), 0)
  t.is(fixture.queue.active, 0)
  t.is(fixture.transport.calls.length, 1)
})

test('DeliveryQueue: reports the oldest message over attempts, failover and restart', async (t) => {
  const transport = new ScriptedTransport((call) => report(call, 'transient'))
  const fixture = await coreFixture(t, { transport })
  await queue(fixture, 'dst_1')
  await submitTo(fixture, 'dst_1')
  t.is(await fixture.queue.oldestMs(), 0)
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'a first attempt')
  for (const nth of [2, 3]) {
    await fixture.settled()
    fixture.clock.advance(6 * hour)
    await fixture.settled()
    t.is(fixture.attempted.length, nth, 'one more attempt')
  }
  await fixture.settled()
  t.is(await fixture.queue.oldestMs(), 12 * hour)
  const next = await fixture.crash()
  t.is(await next.queue.oldestMs(), 12 * hour)
  transport.script = take
  await next.queue.start()
  next.clock.advance(20 * hour)
  await next.settled()
  t.is(sent(next), 1, 'sent')
  t.is(await next.queue.oldestMs(), 0)
})

test('DeliveryQueue: respects the connections of a destination and the total', async (t) => {
  const transport = new ScriptedTransport(hang)
  const fixture = await coreFixture(t, { transport, maxConnections: 8 })
  await queue(fixture, 'dst_a', { maxConnections: 1 })
  await queue(fixture, 'dst_b', { maxConnections: 5 })
  for (let i = 0; i < 20; i++) await Promise.all([submitTo(fixture, 'dst_a'), submitTo(fixture, 'dst_b')])
  await fixture.settled()
  t.is(transport.mostActive.get('dst_a'), 2, 'two messages per connection: one in flight, one waiting')
  t.is(transport.mostActive.get('dst_b'), 4)
  t.is(fixture.queue.active, 6, 'the last quarter is reserved for idle destinations')
  await queue(fixture, 'dst_c')
  await queue(fixture, 'dst_d')
  await queue(fixture, 'dst_e')
  for (const id of ['dst_c', 'dst_c', 'dst_d', 'dst_e']) await submitTo(fixture, id)
  await fixture.settled()
  t.is(fixture.queue.active, 8)
  t.deepEqual([transport.active.get('dst_c'), transport.active.get('dst_d')], [1, 1])
  const stopped = fixture.queue.stop(1000)
  fixture.clock.advance(1000)
  await stopped
})

test('DeliveryQueue: hanging destinations do not delay 180 others', async (t) => {
  const transport = new ScriptedTransport((call) => (call.target.destinationId.startsWith('hang') ? hang(call) : take(call)))
  const fixture = await coreFixture(t, { transport, maxConnections: 200 })
  const hanging = Array.from({ length: 20 }, (_, i) => `hang_${i}`)
  const healthy = Array.from({ length: 180 }, (_, i) => `dst_${i}`)
  for (const id of [...hanging, ...healthy]) await queue(fixture, id, { maxConnections: 10 })
  for (let i = 0; i < 30; i++) await Promise.all(hanging.map((id) => submitTo(fixture, id)))
  await fixture.settled()
  t.is(fixture.queue.active, 150)
  for (let i = 0; i < 3; i++) await Promise.all(healthy.map((id) => submitTo(fixture, id)))
  await fixture.settled()
  t.is(sent(fixture), 540, 'all healthy ones are sent')
  t.true(hanging.every((id) => (transport.mostActive.get(id) ?? 0) <= 20))
  const stopped = fixture.queue.stop(1000)
  fixture.clock.advance(1000)
  await stopped
  t.is(await fixture.queueLength(), 600)
})

test('DeliveryQueue: destinations alternate regardless of their backlog', async (t) => {
  const gate = Promise.withResolvers<void>()
  const transport = new ScriptedTransport(async (call) => {
    await gate.promise
    return take(call)
  })
  const fixture = await coreFixture(t, { transport, maxConnections: 1 })
  await queue(fixture, 'dst_big')
  await queue(fixture, 'dst_small')
  for (let i = 0; i < 50; i++) await submitTo(fixture, 'dst_big')
  for (let i = 0; i < 5; i++) await submitTo(fixture, 'dst_small')
  gate.resolve()
  await fixture.settled()
  t.is(sent(fixture), 55, 'all are sent')
  const small = transport.calls.flatMap(({ target }, place) => (target.destinationId === 'dst_small' ? [place] : []))
  t.true((small.at(-1) ?? 99) <= 11, `the small ones were at ${small.join()}`)
})

test('DeliveryQueue: delivers a backlog larger than its memory once, with new messages', async (t) => {
  const before = await coreFixture(t, { deaf: true })
  for (const id of ['dst_1', 'dst_2', 'dst_3']) await queue(before, id, { maxConnections: 4 })
  const ids: string[] = []
  for (let i = 0; i < 40; i++) {
    const some = await Promise.all(Array.from({ length: 50 }, (_, k) => submitTo(before, `dst_${(k % 3) + 1}`)))
    ids.push(...some.map(({ traceId }) => traceId))
    before.clock.advance(1)
  }
  const fixture = await before.crash({ deaf: false })
  await fixture.queue.start()
  for (let i = 0; i < 10; i++) {
    const some = await Promise.all(Array.from({ length: 30 }, (_, k) => submitTo(fixture, `dst_${(k % 3) + 1}`)))
    ids.push(...some.map(({ traceId }) => traceId))
  }
  await fixture.settled()
  t.is(sent(fixture), 2300, 'all are sent')
  t.is(fixture.transport.calls.length, 2300)
  t.is(new Set(fixture.transport.calls.map(({ job }) => job.traceId)).symmetricDifference(new Set(ids)).size, 0)
  t.is(await fixture.queueLength(), 0)
})

test('DeliveryQueue: handles entries out of order, and duplicates once', async (t) => {
  const transport = new ScriptedTransport()
  const fixture = await coreFixture(t, { deaf: true, transport })
  await queue(fixture, 'dst_1', { maxConnections: 1 })
  for (let i = 0; i < 700; i++) {
    fixture.clock.advance(1)
    await submitTo(fixture, 'dst_1')
  }
  const shuffled = fixture.queued.toSorted((a, b) => (a.traceId < b.traceId ? -1 : 1))
  for (const entry of shuffled) fixture.offer(entry)
  for (const entry of shuffled.slice(0, 300)) fixture.offer(entry)
  await fixture.settled()
  t.is(sent(fixture), 700, 'all are sent')
  t.is(transport.calls.length, 700)
  t.is(await fixture.queueLength(), 0)
})

test('DeliveryQueue: ignores a row that finished while it was being read', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  await queue(fixture, 'dst_1', { maxConnections: 1 })
  const { traceId } = await submitTo(fixture, 'dst_1')
  const [entry] = fixture.queued
  if (!entry) return t.fail()
  const [began, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  fixture.transport.script = async (call) => {
    began.resolve()
    await mayEnd.promise
    return report(call, 'transient')
  }
  fixture.offer(entry)
  await began.promise
  // the read sees the row, and returns after the attempt in flight has ended
  const range = fixture.kv.range.bind(fixture.kv)
  const done = Promise.withResolvers<void>()
  fixture.kv.range = async function* (asked) {
    const rows = await Array.fromAsync(range(asked))
    if ((asked.limit ?? 0) > 1 && rows.some(({ key }) => Buffer.from(key).includes(traceId))) await done.promise
    yield* rows
  }
  await fixture.queue.start()
  mayEnd.resolve()
  await fixture.settled()
  t.deepEqual([fixture.attempted.length, fixture.queue.active], [1, 0], 'the attempt has ended')
  done.resolve()
  fixture.kv.range = range
  await fixture.settled()
  t.is(fixture.transport.calls.length, 1, 'the retry waits for its time')
  t.is(await fixture.queueLength(), 1)
  fixture.transport.script = (call) => take(call)
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(sent(fixture), 1, 'sent')
  t.is(await fixture.queueLength(), 0)
})

test('DeliveryQueue: retries at the due time among earlier and later entries', async (t) => {
  const fixture = await coreFixture(t, { retry: { delaysMs: [minute, 5 * minute] } })
  await queue(fixture, 'dst_1')
  fixture.transport.script = (call) => (call.nth < 3 ? report(call, 'transient') : take(call))
  const first = await submitTo(fixture, 'dst_1')
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'first attempt')
  fixture.clock.advance(30_000)
  const second = await submitTo(fixture, 'dst_1')
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'second message')
  fixture.clock.advance(29_999)
  await fixture.settled()
  t.is(fixture.attempted.length, 2)
  fixture.clock.advance(1)
  await fixture.settled()
  t.is(fixture.attempted.length, 3, 'retry of the first')
  fixture.clock.advance(30_000)
  await fixture.settled()
  t.is(fixture.attempted.length, 4, 'retry of the second')
  fixture.clock.advance(5 * minute)
  await fixture.settled()
  t.is(sent(fixture), 2, 'both are sent')
  t.is((await fixture.trace(first.traceId)).attempts, 3)
  t.is((await fixture.trace(second.traceId)).attempts, 3)
  t.is(await fixture.queueLength(), 0)
})

test('DeliveryQueue: a clock set back by an hour delays queued mail by at most that', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  await queue(fixture, 'dst_1')
  await submitTo(fixture, 'dst_1')
  const next = await fixture.crash({ deaf: false })
  next.clock.step(-hour)
  await next.queue.start()
  await submitTo(next, 'dst_1')
  await next.settled()
  t.is(sent(next), 1, 'the new one is sent')
  next.transport.script = (call) => (call.nth === 1 ? report(call, 'transient') : take(call))
  await submitTo(next, 'dst_1')
  await next.settled()
  t.is(next.attempted.length, 2, 'deferred')
  next.clock.advance(minute)
  await next.settled()
  t.is(next.attempted.length, 3, 'its retry is on time')
  next.clock.advance(hour)
  await next.settled()
  t.true(next.attempted.length >= 4, 'the old one too')
  next.clock.step(-hour)
  next.clock.advance(2 * hour)
  await next.settled()
  t.is(sent(next), 3, 'all')
  t.is(await next.queueLength(), 0)
})

test('DeliveryQueue: respects the rate when idle and when the clock is set back', async (t) => {
  const fixture = await coreFixture(t)
  await queue(fixture, 'dst_1', { maxRatePerMin: 6, maxConnections: 5 })
  for (let i = 0; i < 12; i++) await submitTo(fixture, 'dst_1')
  await fixture.settled()
  t.is(fixture.transport.calls.length, 1)
  for (let i = 2; i <= 6; i++) {
    fixture.clock.advance(9_999)
    await fixture.settled()
    t.is(fixture.transport.calls.length, i - 1)
    fixture.clock.advance(1)
    await fixture.settled()
    t.is(sent(fixture), i, `message ${i}`)
  }
  fixture.clock.step(-hour)
  for (let i = 7; i <= 12; i++) {
    fixture.clock.advance(10_000)
    await fixture.settled()
    t.is(sent(fixture), i, `message ${i}`)
  }
  await fixture.settled()
  await submitTo(fixture, 'dst_1')
  await fixture.settled()
  t.is(fixture.transport.calls.length, 12, 'an empty queue remembers its last attempt')
  fixture.clock.advance(10_000)
  await fixture.settled()
  t.is(sent(fixture), 13, 'the last one')
  fixture.clock.advance(hour)
  await fixture.settled()
  await fixture.daemon.part('probes').stop()
  t.is(fixture.clock.pending, 0, 'an idle queue has no timer')
})

test('DeliveryQueue: applies new limits of a destination', async (t) => {
  const fixture = await coreFixture(t)
  const gates: (() => void)[] = []
  fixture.transport.script = async (call) => {
    await new Promise<void>((resolve) => gates.push(resolve))
    return take(call)
  }
  await queue(fixture, 'dst_1', { maxConnections: 3 })
  for (let i = 0; i < 12; i++) await submitTo(fixture, 'dst_1')
  await fixture.settled()
  t.is(fixture.queue.active, 6, 'six are in flight')
  await fixture.destination({ id: 'dst_1', maxConnections: 1, updatedAt: startOfTime + 1 })
  fixture.transport.mostActive.clear()
  for (const open of gates.splice(0)) open()
  await fixture.settled()
  t.is(sent(fixture), 6, 'six are sent')
  t.is(fixture.queue.active, 2)
  for (let n = 8; n <= 12; n += 2) {
    for (const open of gates.splice(0)) open()
    await fixture.settled()
    t.is(sent(fixture), n, `${n} are sent`)
  }
})
