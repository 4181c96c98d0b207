/** Scheduled sends through the real queue and store with a fake clock: never early, on time, and with effective cancel. */
import test, { type ExecutionContext } from '#test'
import { Refusal } from '#core/refusals.ts'
import { ScheduledSends } from '#core/submission/schedule/scheduled-sends.ts'
import { timelineOf } from '#core/trace/timeline/send-timeline.ts'
import { Seeded, seedOf } from '../../../support/seeded.ts'
import { startOfTime } from '../../../support/fake-clock.ts'
import { coreFixture, principal, type CoreFixture, type CoreFixtureOptions } from '../../core-fixture.ts'
import { hang, report, take } from '../../scripted-transport.ts'
import { column } from '../../../support/column.ts'

const second = 1000
const hour = 3600 * second
const day = 24 * hour

async function scheduling(t: ExecutionContext, options: CoreFixtureOptions = {}): Promise<CoreFixture> {
  const fixture = await coreFixture(t, options)
  await fixture.destination({ maxConnections: 10 })
  await fixture.rule({ any: true })
  return fixture
}

const scheduledSends = (fixture: CoreFixture): ScheduledSends =>
  new ScheduledSends({ ...fixture.context, queued: (entry) => fixture.part('queue').offer(entry, undefined, false) })

const cancelIn = (fixture: CoreFixture, traceId: string) => scheduledSends(fixture).cancel(principal, traceId)
const sent = (fixture: CoreFixture): number => fixture.attempted.filter(({ trace }) => trace.status === 'sent').length

test('scheduled send: leaves at its time, independent of immediate mail', async (t) => {
  const fixture = await scheduling(t)
  const { traceId, status } = await fixture.submit({ sendAt: startOfTime + 3 * day })
  t.is(status, 'queued')
  await fixture.submit()
  await fixture.settled()
  t.is(sent(fixture), 1, 'the other one is sent')
  fixture.clock.advance(3 * day - 1)
  await fixture.settled()
  t.is(fixture.transport.calls.length, 1)
  t.is((await fixture.trace(traceId)).status, 'queued')
  await fixture.pass(1)
  t.is(sent(fixture), 2, 'it is sent')
  t.like(await fixture.trace(traceId), { status: 'sent', attempts: 1, sendAt: startOfTime + 3 * day, begunAt: startOfTime + 3 * day })
  await fixture.daemon.part('probes').stop()
  t.is(fixture.clock.pending, 0)
})

test('scheduled capture: waits for its time, also across restarts', async (t) => {
  const first = await coreFixture(t)
  const { traceId, outcome, status } = await first.submit({ sendAt: startOfTime + hour })
  t.deepEqual([outcome, status], ['captured.no_route', 'queued'])
  t.deepEqual([first.captured.length, await first.queueLength()], [0, 1])
  t.like(await first.trace(traceId), { status: 'queued', nextAttemptAt: startOfTime + hour })
  const listed = (await scheduledSends(first).list(principal, { status: 'queued', limit: 10 })).rows
  t.deepEqual(column(listed, 'id'), [traceId])

  const fixture = await first.crash()
  await fixture.queue.start()
  await fixture.pass(hour - 1)
  t.is(fixture.captured.length, 0)
  await fixture.pass(1)
  t.is(fixture.captured.length, 1, 'it is captured')
  t.like(fixture.captured[0], { traceId, captureReason: 'captured.no_route', capturedAt: startOfTime + hour })
  t.true(fixture.captured[0]?.addressesSeen.includes('anna@example.net'))
  const trace = await fixture.trace(traceId)
  t.like(trace, { status: 'captured', begunAt: startOfTime + hour, nextAttemptAt: null, recipients: [{ status: 'captured' }] })
  t.false('scheduledAddresses' in trace)
  t.is(await fixture.queueLength(), 0)
  await t.throwsAsync(cancelIn(fixture, traceId), { code: 'conflict', message: 'It is too late: the message has been captured.' })
  t.deepEqual((await scheduledSends(fixture).list(principal, { limit: 10 })).rows, [])
  t.is(fixture.transport.calls.length, 0)
})

test('sendNow(): sends immediately, exactly once, and is in the timeline', async (t) => {
  const fixture = await scheduling(t)
  const { traceId } = await fixture.submit({ sendAt: startOfTime + day })
  const canceled = await fixture.submit({ sendAt: startOfTime + day })
  await cancelIn(fixture, canceled.traceId)
  fixture.clock.advance(hour)
  const now = await scheduledSends(fixture).sendNow(principal, traceId)
  t.like(now.broughtForward, { at: startOfTime + hour, by: principal.credentialId, planned: startOfTime + day })
  await fixture.settled()
  t.is(sent(fixture), 1, 'it is sent')
  t.deepEqual(await scheduledSends(fixture).sendNow(principal, traceId), await fixture.trace(traceId), 'repeating it has the same result')
  t.like(await fixture.trace(traceId), { status: 'sent', begunAt: startOfTime + hour })
  await t.throwsAsync(cancelIn(fixture, traceId), { code: 'conflict' })
  await t.throwsAsync(scheduledSends(fixture).sendNow(principal, canceled.traceId), { code: 'conflict', message: /canceled/ })
  await t.throwsAsync(scheduledSends(fixture).sendNow(principal, 'b8d370d5-0000-4000-8000-000000000000'), { code: 'not_found' })
  fixture.clock.advance(2 * day)
  await fixture.settled()
  t.is(fixture.transport.calls.length, 1)
  const sentences = timelineOf(await fixture.trace(traceId), []).map(({ message }) => message)
  t.true(
    sentences.some((message) => message.startsWith(`Brought forward by ${principal.credentialId}`)),
    sentences.join('\n'),
  )
})

test('reschedule(): sends at the new time, once, and is in the timeline', async (t) => {
  const first = await scheduling(t)
  const reschedule = (fixture: CoreFixture, traceId: string, hours: number) =>
    scheduledSends(fixture).reschedule(principal, traceId, startOfTime + hours * hour)
  const later = (await first.submit({ sendAt: startOfTime + hour })).traceId
  const sooner = (await first.submit({ sendAt: startOfTime + 50 * hour, rcptTo: ['sooner@example.net'] })).traceId
  await reschedule(first, later, 5)
  await reschedule(first, sooner, 2)
  const moved = await reschedule(first, later, 3)
  t.deepEqual(await reschedule(first, later, 3), moved, 'the same time changes nothing')
  t.is(await first.queueLength(), 2)
  const listed = (await scheduledSends(first).list(principal, { status: 'queued', limit: 10 })).rows
  t.deepEqual(column(listed, 'id'), [sooner, later])
  await t.throwsAsync(reschedule(first, later, 0), { code: 'validation_failed', message: /^send_at: must be in the future/ })
  await t.throwsAsync(reschedule(first, later, 73), { code: 'validation_failed', message: /^send_at: must be at most 3 days ahead/ })
  await t.throwsAsync(reschedule(first, 'b8d370d5-0000-4000-8000-000000000000', 3), { code: 'not_found' })

  const fixture = await first.crash()
  await fixture.queue.start()
  for (const [hours, calls] of [
    [2, 1],
    [3, 2],
  ] as const) {
    await fixture.pass(hour * (hours === 2 ? 2 : 1) - 1)
    t.is(fixture.transport.calls.length, calls - 1, `not before hour ${hours}`)
    await fixture.pass(1)
    t.is(sent(fixture), calls, `hour ${hours}`)
  }
  t.deepEqual(fixture.transport.calls[0]?.job.rcptTo, ['sooner@example.net'])
  await t.throwsAsync(reschedule(fixture, later, 9), { code: 'conflict', message: /^It is too late/ })
  fixture.clock.advance(3 * day)
  await fixture.settled()
  t.is(fixture.transport.calls.length, 2)
  t.is(await fixture.queueLength(), 0)
  const scheduled = timelineOf(await fixture.trace(later), []).filter(({ event }) => event === 'scheduled')
  const at = (hours: number): string => new Date(startOfTime + hours * hour).toISOString()
  t.deepEqual(column(scheduled, 'message'), [
    `It leaves at ${at(1)} and can be canceled until then.`,
    `Rescheduled by ${principal.credentialId}: it leaves at ${at(5)} instead of at ${at(1)}.`,
    `Rescheduled by ${principal.credentialId}: it leaves at ${at(3)} instead of at ${at(5)}.`,
  ])
})

test('reschedule(): refuses a canceled or brought-forward send', async (t) => {
  const fixture = await scheduling(t)
  const gate = Promise.withResolvers<void>()
  fixture.transport.script = async (call) => {
    await gate.promise
    return take(call)
  }
  const canceled = (await fixture.submit({ sendAt: startOfTime + hour })).traceId
  await cancelIn(fixture, canceled)
  const leaving = (await fixture.submit({ sendAt: startOfTime + hour })).traceId
  await scheduledSends(fixture).sendNow(principal, leaving)
  for (const [traceId, message] of [
    [canceled, /canceled/],
    [leaving, /^It is too late/],
  ] as const)
    await t.throwsAsync(scheduledSends(fixture).reschedule(principal, traceId, startOfTime + day), { code: 'conflict', message })
  gate.resolve()
  await fixture.settled()
  t.is(sent(fixture), 1, 'it is sent')
})

test('reschedule(): moves a due send that waits for a connection', async (t) => {
  const fixture = await scheduling(t, { maxConnections: 1, retry: { delaysMs: [hour], maxAgeMs: 9 * hour } })
  const gate = Promise.withResolvers<void>()
  fixture.transport.script = async (call) => {
    await gate.promise
    return call.job.rcptTo.includes('first@example.net') ? take(call) : report(call, 'transient')
  }
  await fixture.submit({ rcptTo: ['first@example.net'] })
  await fixture.settled()
  t.is(fixture.queue.active, 1, 'the only connection is in use')
  const [later = '', now = ''] = await Promise.all([1, 2].map(async () => (await fixture.submit({ sendAt: startOfTime + second })).traceId))
  await fixture.pass(2 * second)
  t.is(fixture.queue.lanes()[0]?.ready, 2, 'both are due')
  await scheduledSends(fixture).reschedule(principal, later, startOfTime + day)
  await scheduledSends(fixture).sendNow(principal, now)
  gate.resolve()
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'the other has been tried')
  t.deepEqual([fixture.transport.attemptsAt(now).length, fixture.transport.attemptsAt(later).length], [1, 0])
  t.is(await fixture.queueLength(), 2)
  const next = await fixture.crash()
  await next.queue.start()
  await next.settled()
  t.is(next.transport.calls.length, 2, 'the old position is empty')
})

test('reschedule(): concurrent with the old time, exactly one time applies', async (t) => {
  const fixture = await scheduling(t, { maxConnections: 1 })
  const seed = seedOf(1)
  const random = new Seeded(seed)
  let moved = 0
  for (let round = 0; round < 25; round++) {
    const sendAt = fixture.clock.now() + 10
    const ids = await Promise.all(Array.from({ length: 8 }, async () => (await fixture.submit({ sendAt })).traceId))
    fixture.clock.advance(10)
    const callsAtMove = new Map<string, number>()
    await Promise.all(
      ids.map(async (traceId, i) => {
        for (let turns = random.between(0, 30); turns > 0; turns--) await new Promise(setImmediate)
        const asked =
          i % 2 === 0
            ? scheduledSends(fixture).reschedule(principal, traceId, sendAt + 500)
            : scheduledSends(fixture).sendNow(principal, traceId)
        const outcome = await asked.catch((error: unknown) => error)
        if (outcome instanceof Refusal) t.is(outcome.code, 'conflict')
        else if (outcome instanceof Error) throw outcome
        else if (i % 2 === 0) callsAtMove.set(traceId, fixture.transport.attemptsAt(traceId).length)
      }),
    )
    await fixture.settled()
    t.is(await fixture.queueLength(), callsAtMove.size, 'due messages have left')
    for (const [traceId, calls] of callsAtMove) t.deepEqual([calls, fixture.transport.attemptsAt(traceId).length], [0, 0], `seed ${seed}`)
    await fixture.pass(500)
    t.is(await fixture.queueLength(), 0, 'all have left')
    for (const traceId of ids)
      t.deepEqual([(await fixture.trace(traceId)).status, fixture.transport.attemptsAt(traceId).length], ['sent', 1], `seed ${seed}`)
    moved += callsAtMove.size
  }
  t.true(moved > 0, `seed ${seed}`)
})

test('cancel(): of a scheduled capture succeeds or fails completely', async (t) => {
  const fixture = await coreFixture(t)
  let canceled = 0
  for (let round = 0; round < 20; round++) {
    const { traceId } = await fixture.submit({ sendAt: fixture.clock.now() + 10 })
    const before = fixture.captured.length
    fixture.clock.advance(10)
    for (let mutex = round % 10; mutex > 0; mutex--) await new Promise(setImmediate)
    const isCanceled = await cancelIn(fixture, traceId).then(
      () => true,
      () => false,
    )
    await fixture.settled()
    t.is(await fixture.queueLength(), 0, 'it has an outcome')
    t.is((await fixture.trace(traceId)).status, isCanceled ? 'canceled' : 'captured')
    t.is(fixture.captured.length - before, isCanceled ? 0 : 1)
    canceled += isCanceled ? 1 : 0
  }
  t.true(canceled > 0)
})

test('scheduled sends: leave in order of their times, also after restarts', async (t) => {
  let fixture = await scheduling(t, { maxReady: 3 })
  const hours = Array.from({ length: 40 }, (_, i) => ((i * 17) % 40) + 1)
  for (const n of hours) await fixture.submit({ sendAt: startOfTime + n * hour, rcptTo: [`h${n}@example.net`] })
  for (let n = 1; n <= 40; n++) {
    if (n % 10 === 0) {
      fixture = await fixture.crash()
      await fixture.queue.start()
    }
    const before = fixture.transport.calls.length
    await fixture.pass(hour - 1)
    t.is(fixture.transport.calls.length, before, `none before hour ${n}`)
    await fixture.pass(1)
    t.is(fixture.transport.calls.length, before + 1, `hour ${n}`)
    t.deepEqual(fixture.transport.calls.at(-1)?.job.rcptTo, [`h${n}@example.net`])
    t.is(await fixture.queueLength(), 40 - n, 'it is sent')
  }
  await fixture.settled()
  t.is(await fixture.queueLength(), 0)
})

test('scheduled send: leaves on start if its time passed while the process was down', async (t) => {
  const before = await scheduling(t)
  const { traceId } = await before.submit({ sendAt: startOfTime + hour })
  before.clock.advance(hour - 1)
  before.clock.step(hour)
  const fixture = await before.crash()
  await fixture.queue.start()
  await fixture.settled()
  t.is(sent(fixture), 1, 'it is sent')
  t.is((await fixture.trace(traceId)).attempts, 1)
})

test('scheduled send: leaves within 5 s when the wall clock is set forward', async (t) => {
  const fixture = await scheduling(t)
  await fixture.submit({ sendAt: startOfTime + 2 * hour })
  await fixture.pass(hour)
  t.is(fixture.transport.calls.length, 0)
  fixture.clock.step(hour)
  await fixture.pass(5 * second)
  t.is(sent(fixture), 1, 'it is sent')
})

test('scheduled send: is never early, even if the wall clock is set back', async (t) => {
  const fixture = await scheduling(t, { maxConnections: 1 })
  await fixture.submit({ sendAt: startOfTime + hour })
  fixture.clock.advance(hour - second)
  fixture.clock.step(-hour)
  await fixture.pass(hour)
  t.is(fixture.transport.calls.length, 0)
  const gate = Promise.withResolvers<void>()
  fixture.transport.script = async (call) => {
    await gate.promise
    return take(call)
  }
  await fixture.submit({ rcptTo: ['first@example.net'] })
  await fixture.settled()
  t.is(fixture.queue.active, 1, 'the only connection is in use')
  await fixture.pass(second)
  fixture.clock.step(-hour) // due and waiting for a connection when the clock is set back
  gate.resolve()
  await fixture.settled()
  t.is(sent(fixture), 1, 'the first one is sent')
  t.is(fixture.transport.calls.length, 1)
  await fixture.pass(hour - 1)
  t.is(fixture.transport.calls.length, 1)
  await fixture.pass(1)
  t.is(sent(fixture), 2, 'it is sent')
  t.is(await fixture.queueLength(), 0)
})

test('scheduled send: retries for the same period as others, from its time', async (t) => {
  const fixture = await scheduling(t, { retry: { delaysMs: [hour], maxAgeMs: 2.5 * hour } })
  fixture.transport.script = (call) => report(call, 'transient')
  const { traceId } = await fixture.submit({ sendAt: startOfTime + 3 * day })
  fixture.clock.advance(3 * day)
  for (let attempts = 1; attempts <= 3; attempts++) {
    await fixture.settled()
    t.is(fixture.attempted.length, attempts, `attempt ${attempts}`)
    fixture.clock.advance(hour)
  }
  t.like(await fixture.trace(traceId), { status: 'failed', attempts: 3 })
})

test('cancel(): removes the queue entry, and nothing leaves', async (t) => {
  const fixture = await scheduling(t)
  const { traceId } = await fixture.submit({ sendAt: startOfTime + hour, rcptTo: ['a@example.net', 'b@example.net'] })
  fixture.clock.advance(second)
  const canceled = await cancelIn(fixture, traceId)
  t.is(await fixture.queueLength(), 0)
  t.deepEqual(canceled.canceled, { at: startOfTime + second, by: 'key_1' })
  t.deepEqual(new Set(canceled.recipients.map(({ status }) => status)), new Set(['canceled'] as const))
  fixture.clock.advance(day)
  await fixture.settled()
  const next = await fixture.crash()
  await next.queue.start()
  await next.settled()
  t.is(next.transport.calls.length, 0)
  t.is(await next.queueLength(), 0)
  t.deepEqual(await cancelIn(next, traceId), canceled)
})

test('cancel(): is too late once the attempt has begun, also after a crash', async (t) => {
  const before = await scheduling(t)
  before.transport.script = hang
  const { traceId } = await before.submit({ sendAt: startOfTime + hour })
  await before.pass(hour)
  t.is(before.transport.calls.length, 1, 'it is in flight')
  const late = { code: 'conflict', message: 'It is too late: delivery of the message has begun. Its trace has the outcome.' }
  await t.throwsAsync(cancelIn(before, traceId), late)
  const fixture = await before.crash()
  await t.throwsAsync(cancelIn(fixture, traceId), late)
  fixture.transport.script = (call) => (call.nth === 2 ? report(call, 'transient') : take(call))
  await fixture.queue.start()
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'it is deferred')
  await t.throwsAsync(cancelIn(fixture, traceId), late)
  await fixture.pass(hour)
  t.is(sent(fixture), 1, 'it is sent')
  await t.throwsAsync(cancelIn(fixture, traceId), late)
  t.deepEqual((await scheduledSends(fixture).list(principal, { limit: 10 })).rows, [])
})

test('cancel(): concurrent with delivery, exactly one succeeds', async (t) => {
  const fixture = await scheduling(t, { maxConnections: 20 })
  const seed = seedOf(1)
  const random = new Seeded(seed)
  let canceled = 0
  for (let round = 0; round < 25; round++) {
    const sendAt = fixture.clock.now() + 10
    const ids = await Promise.all(Array.from({ length: 12 }, async () => (await fixture.submit({ sendAt })).traceId))
    const callsAtCancel = new Map<string, number>()
    fixture.clock.advance(10)
    const asked = ids.flatMap((traceId) =>
      Array.from({ length: 4 }, async () => {
        for (let mutex = random.between(0, 12); mutex > 0; mutex--) await new Promise(setImmediate)
        const outcome = await cancelIn(fixture, traceId).catch((error: unknown) => error)
        if (outcome instanceof Refusal) t.is(outcome.code, 'conflict')
        else if (outcome instanceof Error) throw outcome
        else callsAtCancel.set(traceId, fixture.transport.attemptsAt(traceId).length)
      }),
    )
    await Promise.all(asked)
    await fixture.settled()
    t.is(await fixture.queueLength(), 0, 'all have an outcome')
    for (const traceId of ids) {
      const { status } = await fixture.trace(traceId)
      const calls = fixture.transport.attemptsAt(traceId).length
      t.deepEqual([status, calls], callsAtCancel.has(traceId) ? ['canceled', 0] : ['sent', 1], `seed ${seed}`)
    }
    canceled += callsAtCancel.size
  }
  t.true(canceled > 0 && canceled < 300, `both outcomes were seen: ${canceled} of 300 canceled (seed ${seed})`)
})
