/** Storage of attempts: started ones in the queue entry, the first ended one in the trace. The timeline equals that of separate rows. */
import test, { type ExecutionContext } from '#test'
import type { AttemptRecord } from '#core/trace/attempt-record.ts'
import { readAttempts } from '#core/trace/attempts.ts'
import { traces } from '#core/trace/trace.ts'
import { discardTrace } from '#core/retention/remove-trace.ts'
import { queueHead } from '#store/queue.ts'
import { organizationId, projectId, relaying, type CoreFixture } from '../core-fixture.ts'
import { hang, report, take } from '../scripted-transport.ts'

const minute = 60_000

const attempts = async (fixture: CoreFixture, traceId: string): Promise<AttemptRecord[]> =>
  readAttempts(fixture.database, organizationId, await fixture.trace(traceId))
const states = async (fixture: CoreFixture, traceId: string): Promise<string[]> =>
  (await attempts(fixture, traceId)).map(({ number, state }) => `${number} ${state}`)
const rows = async (fixture: CoreFixture): Promise<number> => (await fixture.keys('event')).length
const begunNow = async ({ database }: CoreFixture) =>
  (await queueHead(database, { destinationId: 'dst_1', projectId }, { limit: 1 }))[0]?.begun

/** A message whose first attempt hangs after its start is durable. */
async function interruptible(t: ExecutionContext): Promise<{ readonly fixture: CoreFixture; readonly traceId: string }> {
  const fixture = await relaying(t, async (call) => {
    await call.job.beforeFinalDot()
    return hang(call)
  })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is((await attempts(fixture, traceId)).length, 1, 'the attempt is in flight')
  return { fixture, traceId }
}

test('begun attempt: read from its queue entry, and unknown after a crash', async (t) => {
  const { fixture, traceId } = await interruptible(t)
  t.is(await rows(fixture), 0)
  const place = { provider: 'smtp', host: 'smtp.provider.test', port: 587 }
  t.deepEqual(await begunNow(fixture), { number: 1, startedAt: fixture.clock.now(), ...place })
  t.deepEqual(await attempts(fixture, traceId), [
    { number: 1, startedAt: fixture.clock.now(), ...place, destinationId: 'dst_1', state: 'started' },
  ])
  await fixture.assertSound(t)
  const next = await fixture.crash()
  t.deepEqual(await states(next, traceId), ['1 started'])
  next.transport.script = (call) => report(call, 'transient', 'connect_refused')
  await next.queue.start()
  await next.settled()
  t.is(next.attempted.length, 1, 'the second has ended')
  t.deepEqual(await states(next, traceId), ['1 unknown', '2 finished'])
  t.like(await next.trace(traceId), { attempts: 2, status: 'queued' })
  t.is(await begunNow(next), undefined)
  await next.assertSound(t)
})

test('begun attempt: counts once if the process dies again before the next attempt', async (t) => {
  const { fixture, traceId } = await interruptible(t)
  const next = await fixture.crash()
  next.transport.script = hang // it never reaches its start
  await next.queue.start()
  await next.settled()
  t.is(next.transport.calls.length, 2, 'the second is in flight')
  t.deepEqual(await states(next, traceId), ['1 unknown'])
  const last = await next.crash()
  last.transport.script = (call) => take(call)
  await last.queue.start()
  await last.settled()
  t.is(last.attempted.length, 1, 'sent')
  t.deepEqual(await states(last, traceId), ['1 unknown', '2 finished'])
  t.like(await last.trace(traceId), { attempts: 2, status: 'sent' })
})

test('begun attempt: does not queue a message deleted during its start', async (t) => {
  const begin = Promise.withResolvers<void>()
  const fixture = await relaying(t, async (call) => {
    await begin.promise
    return take(call)
  })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.transport.calls.length, 1, 'the attempt is in flight')
  t.true(await discardTrace(fixture.database, organizationId, traceId))
  begin.resolve()
  await fixture.settled()
  t.is(await fixture.queueLength(), 0)
  t.deepEqual([await begunNow(fixture), await rows(fixture)], [undefined, 0])
  await fixture.assertSound(t)
})

test('begun attempt: a changed message begins in a row and ends in the trace', async (t) => {
  const [begin, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const fixture = await relaying(t, async (call) => {
    await begin.promise
    await call.job.beforeFinalDot()
    await end.promise
    return report(call, 'accepted')
  })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.transport.calls.length, 1, 'the attempt is in flight')
  await fixture.edit(traces, traceId, { updatedAt: fixture.clock.now() + 1 })
  begin.resolve()
  await fixture.settled()
  t.is((await states(fixture, traceId)).join(), '1 started', 'it has started')
  t.deepEqual([await begunNow(fixture), await rows(fixture)], [undefined, 1])
  end.resolve()
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  t.deepEqual([await states(fixture, traceId), await rows(fixture)], [['1 finished'], 0])
})

test('begun attempt: ended by our defect, stays recorded and counts as unknown', async (t) => {
  const fixture = await relaying(t, async (call) => {
    await call.job.beforeFinalDot()
    if (call.nth === 1) throw new Error('a defect')
    return report(call, 'accepted')
  })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.errors.splice(0).length, 1, 'the defect')
  t.deepEqual([await states(fixture, traceId), await rows(fixture)], [['1 started'], 1])
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  t.deepEqual(await states(fixture, traceId), ['1 unknown', '2 finished'])
})

test('begun attempt: known results survive a defect', async (t) => {
  const [anna, ben] = ['anna@example.net', 'ben@example.net']
  const fixture = await relaying(t, async (call) => {
    await call.job.beforeFinalDot()
    if (call.nth > 1) return report(call, 'accepted')
    await call.job.beforeFinalDot([
      { address: anna, verdict: 'accepted' },
      { address: ben, verdict: 'unknown' },
    ])
    throw new Error('a defect')
  })
  const { traceId } = await fixture.submit({ rcptTo: [anna, ben] })
  await fixture.settled()
  t.is(fixture.errors.splice(0).length, 1, 'the defect')
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'the second attempt')
  t.deepEqual(fixture.transport.calls[1]?.job.rcptTo, [ben])
  t.deepEqual(await states(fixture, traceId), ['1 unknown', '2 finished'])
})

test('begun attempt: an interrupted attempt counts despite a concurrent change', async (t) => {
  const { fixture, traceId } = await interruptible(t)
  const next = await fixture.crash()
  next.transport.script = (call) => take(call)
  next.kv.beforeWrite = async ({ checks }) => {
    if (checks.length === 0) return
    next.kv.beforeWrite = undefined
    await next.edit(traces, traceId, { updatedAt: next.clock.now() + 1 })
  }
  await next.queue.start()
  await next.settled()
  t.is(next.attempted.length, 1, 'sent')
  t.deepEqual(await states(next, traceId), ['1 unknown', '2 finished'])
  t.like(await next.trace(traceId), { attempts: 2, status: 'sent' })
  await next.assertSound(t)
})

test('begun attempt: a small first attempt ends in the trace, any other in its row', async (t) => {
  const fixture = await relaying(t, (call) => (call.nth === 1 ? report(call, 'transient') : take(call)))
  const small = await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'the first')
  t.like((await fixture.trace(small.traceId)).firstAttempt, { number: 1, state: 'finished' })
  t.is(await rows(fixture), 0)
  const many = Array.from({ length: 60 }, (_, i) => `r${i}@example.net`)
  const large = await fixture.submit({ rcptTo: many })
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'the large one')
  t.is((await fixture.trace(large.traceId)).firstAttempt, undefined)
  t.is((await attempts(fixture, large.traceId))[0]?.recipients?.length, 60)
  t.is(await rows(fixture), 1)
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 4, 'both again')
  t.deepEqual(await states(fixture, small.traceId), ['1 finished', '2 finished'])
  t.deepEqual(await states(fixture, large.traceId), ['1 finished', '2 finished'])
  t.is(await rows(fixture), 3)
  await fixture.assertSound(t)
})
