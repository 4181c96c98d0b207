/** The queue over a real store: shutdowns, crashes and defects lose no entry, and memory is bounded. */
import test from '#test'
import { Change } from '#store/change.ts'
import { StoreDamaged } from '#store/kv.ts'
import { describeKey } from '#store/tuple.ts'
import { dequeue, enqueue, queueHead, queueLength, type QueueEntry } from '#store/queue.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { coreFixture, projectId } from '../core-fixture.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { queue, sent, submitTo } from '../queue-fixture.ts'
import { hang, report, take } from '../scripted-transport.ts'

const minute = 60_000
const hour = 60 * minute

test('stop(): finishes attempts in flight, starts none, and hands back aborted ones', async (t) => {
  const fixture = await coreFixture(t)
  await queue(fixture, 'dst_1', { maxConnections: 2 })
  const gate = Promise.withResolvers<void>()
  fixture.transport.script = async (call) => {
    if (call.job.rcptTo[0] === 'slow@example.net') return hang(call)
    await gate.promise
    return take(call)
  }
  const quick = await submitTo(fixture, 'dst_1')
  const slow = await submitTo(fixture, 'dst_1', 'slow@example.net')
  await fixture.settled()
  t.is(fixture.queue.active, 2, 'two are in flight')
  for (let i = 0; i < 300; i++) await submitTo(fixture, 'dst_1', `r${i}@example.net`)
  await fixture.settled()
  t.is(fixture.queue.active, 4, 'four are in flight')
  let stopped = false
  const stopping = fixture.queue.stop(10_000).then(() => (stopped = true))
  gate.resolve()
  await fixture.settled()
  t.is(fixture.queue.active, 1, 'three ended')
  t.false(stopped)
  fixture.clock.advance(10_000)
  await stopping
  t.is((await fixture.trace(quick.traceId)).status, 'sent')
  const handedBack = await fixture.trace(slow.traceId)
  t.is(handedBack.status, 'queued')
  t.is(handedBack.nextAttemptAt, fixture.clock.now())
  t.is(fixture.transport.calls.length, 4)
  t.is(await fixture.queueLength(), 299)

  const next = await fixture.crash({})
  next.transport.script = (call) => take(call)
  await next.queue.start()
  await next.settled()
  t.is(sent(next), 299, 'the remaining messages are sent')
  t.is(await next.queueLength(), 0)
})

test('stop(): waits for queue reads, and resolves immediately when idle', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  await fixture.queue.stop(1000)
  await queue(fixture, 'dst_1')
  await submitTo(fixture, 'dst_1')
  const next = await fixture.crash()
  await next.queue.start()
  await next.queue.stop(1000)
  t.is(next.kv.busy, 0)
  await next.settled()
  t.true(next.transport.calls.length <= 1)
})

test('DeliveryQueue: after a crash at any time delivers every accepted message', async (t) => {
  let fixture = await coreFixture(t, { maxConnections: 4 })
  await queue(fixture, 'dst_1', { maxConnections: 4 })
  const ids = new Set<string>()
  for (let writes = 1; writes <= 40; writes += 3) {
    let left = writes
    fixture.kv.beforeWrite = () => void (--left === 0 && void fixture.kv.cut())
    for (let i = 0; i < 8; i++) void submitTo(fixture, 'dst_1').then(({ traceId }) => ids.add(traceId))
    await fixture.settled() // until the crash, or the end of the work
    fixture = await fixture.crash()
    await fixture.queue.start()
  }
  await fixture.settled()
  t.is(await fixture.queueLength(), 0, 'the queue is empty')
  t.true(ids.size > 20, `${ids.size} accepted`)
  for (const id of ids) t.is((await fixture.trace(id)).status, 'sent')
})

test('DeliveryQueue: bounds contents in memory', async (t) => {
  const contents: boolean[] = []
  const fixture = await coreFixture(t, { maxMemoryBytes: 14_000 })
  const run = fixture.attempts.run.bind(fixture.attempts)
  fixture.attempts.run = (entry, message, turn) => {
    t.is(message.trace === undefined, message.content === undefined, 'both or neither')
    contents.push(message.content !== undefined)
    return run(entry, message, turn)
  }
  await queue(fixture, 'dst_1', { maxConnections: 1 })
  const gate = Promise.withResolvers<void>()
  fixture.transport.script = async (call) => {
    await gate.promise
    return take(call)
  }
  const content = `Subject: x\r\n\r\n${'x'.repeat(3986)}`
  const submit = () => fixture.submit({ content, facts: { headerFrom: 'dst_1@example.com' } as never })
  for (let i = 0; i < 6; i++) await submit()
  gate.resolve()
  await fixture.settled()
  t.is(sent(fixture), 6, 'six are sent')
  t.deepEqual(contents, [true, true, false, false, false, false])
  for (let i = 0; i < 2; i++) await submit()
  await fixture.settled()
  t.is(sent(fixture), 8, 'eight are sent')
  t.deepEqual(contents.slice(6), [true, true], 'the memory was released')
})

test('DeliveryQueue: receives the stored trace of a message', async (t) => {
  const fixture = await coreFixture(t)
  const run = fixture.attempts.run.bind(fixture.attempts)
  let compared = 0
  fixture.attempts.run = async (entry, message, turn) => {
    const stored = await fixture.context.database.get(traces, entry, entry.traceId)
    if (message.trace) t.deepEqual(message.trace, stored, `trace ${String(++compared)}`)
    return run(entry, message, turn)
  }
  await queue(fixture, 'dst_1')
  await submitTo(fixture, 'dst_1')
  await fixture.submit({ rcptTo: ['a@inbox.test', 'A@inbox.test', 'b@inbox.test'], facts: { headerFrom: 'dst_1@example.com' } as never })
  await fixture.settled()
  t.is(sent(fixture), 2, 'both are sent')
  t.is(compared, 2)
  const many = Array.from({ length: 5 }, (_, i) => `r${i}@inbox.test`)
  await fixture.submit({ rcptTo: many, facts: { headerFrom: 'dst_1@example.com' } as never })
  await fixture.settled()
  t.is(sent(fixture), 3, 'the third is sent')
  t.is(compared, 2, 'a trace with many recipients is not kept in memory')
})

test('DeliveryQueue: does not deliver a trace that has changed since it was written', async (t) => {
  const fixture = await coreFixture(t)
  const { database } = fixture.context
  const run = fixture.attempts.run.bind(fixture.attempts)
  fixture.attempts.run = async (entry, message, turn) => {
    const stored = await database.get(traces, entry, entry.traceId)
    if (stored)
      await database.commit(new Change().rewrite(traces, entry.organizationId, stored, { ...stored.record, status: 'canceled' as const }))
    return run(entry, message, turn)
  }
  await queue(fixture, 'dst_1')
  const { traceId } = await submitTo(fixture, 'dst_1')
  await fixture.settled()
  t.is(await queueLength(database), 0, 'the entry is gone')
  t.is((await fixture.trace(traceId)).status, 'canceled')
  t.is(fixture.transport.calls.length, 0)
})

for (const place of ['before', 'after'] as const) {
  test(`DeliveryQueue: keeps an entry whose attempt throws ${place} it was committed`, async (t) => {
    const fixture = await coreFixture(t)
    await queue(fixture, 'dst_1')
    const run = fixture.attempts.run.bind(fixture.attempts)
    let broken = 2
    fixture.attempts.run = async (...given) => {
      if (place === 'before' && broken-- > 0) throw new Error('a defect')
      const next = await run(...given)
      if (place === 'after' && broken-- > 0) throw new Error('a defect')
      return next
    }
    fixture.transport.script = (call) => (call.nth === 1 ? report(call, 'transient') : take(call))
    const { traceId } = await submitTo(fixture, 'dst_1')
    await fixture.settled()
    t.is(fixture.errors.length, 1, 'a defect')
    t.is(await fixture.queueLength(), 1)
    t.is(fixture.errors.length, 1, 'it is paused')
    for (let i = 0; i < 6; i++) {
      fixture.clock.advance(minute)
      await fixture.settled()
    }
    t.is((await fixture.trace(traceId)).status, 'sent')
    t.is((await fixture.trace(traceId)).attempts, 2)
    t.is(await fixture.queueLength(), 0)
    t.is(fixture.errors.splice(0).length, 2)
  })
}

test('DeliveryQueue: pauses a message with an unreadable row, and delivers the others', async (t) => {
  const fixture = await coreFixture(t)
  await queue(fixture, 'dst_1', { maxConnections: 1 })
  const damaged = (key?: Uint8Array) => Promise.reject(new StoreDamaged('The store is damaged.', { ...(key && { key }) }))
  const run = fixture.attempts.run.bind(fixture.attempts)
  const get = fixture.kv.get.bind(fixture.kv)
  let lost = ''
  let tries = 0
  fixture.onQueued = ({ traceId }) => (lost ||= traceId)
  fixture.attempts.run = (entry, ...rest) => {
    if (entry.traceId !== lost) return run(entry, ...rest)
    tries++
    return damaged()
  }
  const isLost = (row: string): boolean => row.includes('"queue"') && row.endsWith(`"${lost}"]`)
  fixture.kv.get = (key) => (isLost(describeKey(key)) ? damaged(key) : get(key))
  for (let i = 0; i < 5; i++) await submitTo(fixture, 'dst_1', `r${i}@example.net`)
  await fixture.pass(59_000)
  t.is(tries, 1, 'it is paused')
  t.is(sent(fixture), 4, 'the others are sent')
  await fixture.pass(3 * minute)
  t.is(tries, 4, 'it is retried after each pause')
  t.is(fixture.errors.splice(0).length, 8)

  fixture.attempts.run = run
  fixture.kv.get = get
  await fixture.pass(minute)
  t.is(sent(fixture), 5, 'a readable row is delivered')
  t.is(await fixture.queueLength(), 0)
})

test('DeliveryQueue: survives unreadable limits', async (t) => {
  const fixture = await coreFixture(t)
  await queue(fixture, 'dst_1')
  const of = fixture.policies.of.bind(fixture.policies)
  let broken = false
  fixture.policies.of = (id) => (broken ? Promise.reject(new Error('unreadable')) : of(id))
  fixture.onQueued = () => void (broken = true)
  await submitTo(fixture, 'dst_1')
  await fixture.settled()
  t.true(fixture.errors.length >= 2, 'defects')
  fixture.errors.splice(0)
  t.is(fixture.queue.active, 0)
  broken = false
  fixture.onQueued = undefined
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(sent(fixture), 1, 'sent')
  t.is(await fixture.queueLength(), 0)
})

test('DeliveryQueue: removes entries of deleted or settled traces', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  await queue(fixture, 'dst_1')
  const gone = await submitTo(fixture, 'dst_1')
  await fixture.remove(traces, gone.traceId)
  const canceled = await submitTo(fixture, 'dst_1')
  await fixture.put<Trace>(traces, { ...(await fixture.trace(canceled.traceId)), status: 'canceled' })
  const next = await fixture.crash()
  await next.queue.start()
  await next.settled()
  t.is(await next.queueLength(), 0, 'the queue is empty')
  t.deepEqual(next.transport.calls, [])
  t.deepEqual(await queueHead(next.database, { destinationId: 'dst_1', projectId }, { limit: 10 }), [])
})

test('start(): finds every destination with due and future entries', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  for (const id of ['dst_1', 'dst_2']) await queue(fixture, id)
  const { traceId } = await submitTo(fixture, 'dst_2')
  const [entry] = fixture.queued
  if (!entry) return t.fail()
  const later: QueueEntry = { ...entry, dueMs: startOfTime + hour }
  await fixture.database.commit(enqueue(dequeue(new Change(), entry), later))
  await submitTo(fixture, 'dst_1')
  const next = await fixture.crash({ deaf: false })
  await next.queue.start()
  await next.settled()
  t.is(sent(next), 1, 'the due one')
  next.clock.advance(hour - 1)
  await next.settled()
  t.is(sent(next), 1)
  next.clock.advance(1)
  await next.settled()
  t.is(sent(next), 2, 'the later one')
  t.is((await next.trace(traceId)).status, 'sent')
})
