/** Delivery attempts: the effect of each reply on each recipient. */
import test from '#test'
import type { AttemptReport } from '#core/delivery/transport.ts'
import { writeAttempt } from '#core/trace/attempt-record.ts'
import { readAttempts } from '#core/trace/attempts.ts'
import { serviceRef } from '#core/trace/trace-token.ts'
import type { Trace } from '#core/trace/trace.ts'
import { destinations } from '#core/routing/destination.ts'
import { Change } from '#store/change.ts'
import { queueHead } from '#store/queue.ts'
import { organizationId, principal, secrets, type CoreFixture, relaying } from '../core-fixture.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { contentOf, hang, report, take, type Call } from '../scripted-transport.ts'
import { column } from '../../support/column.ts'

const minute = 60_000
const hour = 60 * minute
const three = ['anna@example.net', 'ben@example.net', 'carl@example.net']

const attempts = async (fixture: CoreFixture, traceId: string) =>
  readAttempts(fixture.database, organizationId, await fixture.trace(traceId))
const fates = ({ recipients }: Trace): string[] => recipients.map(({ address, status }) => `${address} ${status}`)

test('attempt: trace, attempt, timeline and queue agree on an accepted message', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  const trace = await fixture.trace(traceId)
  t.like(trace, { status: 'sent', attempts: 1, unknownAttempts: 0, nextAttemptAt: null, updatedAt: fixture.clock.now() })
  t.deepEqual(trace.recipients, [{ address: 'anna@example.net', status: 'sent', reply: { code: 250, enhanced: '2.0.0', text: 'queued' } }])
  t.deepEqual(await attempts(fixture, traceId), [
    {
      number: 1,
      destinationId: 'dst_1',
      startedAt: fixture.clock.now(),
      state: 'finished',
      endedAt: fixture.clock.now(),
      provider: 'smtp',
      host: 'smtp.provider.test',
      port: 587,
      reused: false,
      milliseconds: { total: 5 },
      recipients: [{ address: 'anna@example.net', verdict: 'accepted', reply: { code: 250, enhanced: '2.0.0', text: 'queued' } }],
      nextAttemptAt: null,
    },
  ])
  t.is(await fixture.queueLength(), 0)
})

test('attempt: passes envelope, size and content with our headers first', async (t) => {
  const seen: (Buffer | object)[] = []
  const fixture = await relaying(t, async (call) => {
    seen.push(await contentOf(call), { ...call.job, signal: undefined, beforeFinalDot: undefined, content: undefined }, call.target)
    return take(call)
  })
  await fixture.destination({ username: 'me' }, 'secret')
  const prefix = 'Received: from somewhere\r\n'
  for (const size of [1000, 700_000]) {
    const content = `Subject: x\r\n\r\n${'0123456789abcd\r\n'.repeat(size / 16)}`
    const { traceId } = await fixture.submit({ content, facts: { prefix, eightBit: true } as never, rcptTo: three, mailFrom: '' })
    await fixture.settled()
    t.is(seen.length, 3, 'sent')
    const [sent, job, target] = seen.splice(0)
    const ours = `${prefix}X-Service-Ref: ${serviceRef(secrets, traceId)}\r\n`
    t.is(Buffer.compare(sent as Buffer, Buffer.from(ours + content)), 0)
    t.like(job, { traceId, mailFrom: '', rcptTo: three, eightBit: true, smtputf8: false, size: ours.length + content.length })
    t.like(target, { destinationId: 'dst_1', username: 'me', password: 'secret', host: 'smtp.provider.test', security: 'starttls' })
  }
})

test('attempt: retries only the deferred recipient of three', async (t) => {
  const verdicts = { 'anna@example.net': 'accepted', 'ben@example.net': 'transient', 'carl@example.net': 'permanent' } as const
  const fixture = await relaying(t, (call) => take(call, call.nth === 1 ? verdicts : 'accepted'))
  const { traceId } = await fixture.submit({ rcptTo: three })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'first')
  const between = await fixture.trace(traceId)
  t.deepEqual(fates(between), ['anna@example.net sent', 'ben@example.net queued', 'carl@example.net failed'])
  t.like(between, { status: 'queued', nextAttemptAt: startOfTime + minute })
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'second')
  t.deepEqual(fixture.transport.attemptsAt(traceId), [three, ['ben@example.net']])
  const trace = await fixture.trace(traceId)
  t.deepEqual(fates(trace), ['anna@example.net sent', 'ben@example.net sent', 'carl@example.net failed'])
  t.is(trace.recipients[2]?.reply?.code, 550)
  t.is(trace.status, 'failed', 'the worst recipient decides')
  t.deepEqual((await fixture.details(traceId)).slice(3), [
    'attempt: Attempt 1 to smtp.provider.test:587 took 0 ms: 1 accepted, 1 deferred, 1 refused.',
    `retry_scheduled: Attempt 2 for 1 recipient is due at ${new Date(startOfTime + minute).toISOString()}.`,
    'bounced: Bounced for carl@example.net: The mailbox does not exist at that domain.',
    'attempt: Attempt 2 to smtp.provider.test:587 took 0 ms: 1 accepted.',
    'partly_sent: The provider accepted the message for 2 of 3 recipients; the others failed.',
  ])
})

test('attempt: retries on schedule and gives up at the maximum age', async (t) => {
  const fixture = await relaying(t, (call) => report(call, 'transient', 'connect_timeout'))
  const { traceId } = await fixture.submit()
  const times: number[] = []
  for (let n = 1; n <= 18; n++) {
    await fixture.settled()
    t.is(fixture.attempted.length, n, `attempt ${n}`)
    times.push((fixture.clock.now() - startOfTime) / minute)
    const { nextAttemptAt } = await fixture.trace(traceId)
    if (nextAttemptAt === null) break
    fixture.clock.advance(nextAttemptAt - fixture.clock.now() - 1)
    await fixture.settled()
    t.is(fixture.attempted.length, n, 'not early')
    fixture.clock.advance(1)
  }
  t.deepEqual(times, [0, 1, 6, 21, 51, 111, 231, 471, 711, 951, 1191, 1431, 1671, 1911, 2151, 2391, 2631, 2871])
  t.like(await fixture.trace(traceId), { status: 'failed', attempts: 18, nextAttemptAt: null })
  t.is(await fixture.queueLength(), 0)
  const details = await fixture.details(traceId)
  t.is(details.filter((line) => line.startsWith('attempt:')).length, 18)
  t.is(details.at(-1), 'failed: Delivery was abandoned for all recipients.')
})

test('attempt: an unknown outcome is recorded, and repeated once after 15 minutes', async (t) => {
  const fixture = await relaying(t, async (call) => {
    await call.job.beforeFinalDot()
    return report(call, 'unknown', 'connection_lost')
  })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'first')
  t.like(await fixture.trace(traceId), { status: 'queued', unknownAttempts: 1, nextAttemptAt: startOfTime + 15 * minute })
  t.like((await attempts(fixture, traceId))[0], { state: 'unknown' })
  t.regex(
    (await fixture.details(traceId)).join('\n'),
    /connection_lost\. The outcome is unknown: the provider may have accepted the message\./,
  )
  fixture.clock.advance(15 * minute - 1)
  await fixture.settled()
  t.is(fixture.attempted.length, 1)
  fixture.clock.advance(1)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'second')
  t.like(await fixture.trace(traceId), { status: 'failed', unknownAttempts: 2, nextAttemptAt: null })
  fixture.clock.advance(48 * hour)
  await fixture.settled()
  t.is(fixture.transport.calls.length, 2)
})

test('attempt: a deferred recipient continues after another was given up as unknown', async (t) => {
  const verdicts = { 'anna@example.net': 'unknown', 'ben@example.net': 'transient' } as const
  const fixture = await relaying(t, (call) => take(call, call.nth < 3 ? verdicts : 'accepted'))
  const { traceId } = await fixture.submit({ rcptTo: three.slice(0, 2) })
  for (let n = 1; n <= 3; n++) {
    await fixture.settled()
    t.is(fixture.attempted.length, n, `attempt ${n}`)
    fixture.clock.advance(hour)
  }
  t.deepEqual(fixture.transport.attemptsAt(traceId), [three.slice(0, 2), three.slice(0, 2), ['ben@example.net']])
  t.deepEqual(fates(await fixture.trace(traceId)), ['anna@example.net failed', 'ben@example.net sent'])
})

test('attempt: an interrupted attempt is unknown, and the message is delivered again', async (t) => {
  const fixture = await relaying(t, async (call) => {
    await call.job.beforeFinalDot()
    return hang(call)
  })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is((await attempts(fixture, traceId)).length, 1, 'the start is stored')
  t.like((await attempts(fixture, traceId))[0], { number: 1, state: 'started', host: 'smtp.provider.test' })
  t.regex((await fixture.details(traceId)).at(-1) ?? '', /^attempt: Attempt 1 to smtp.provider.test:587 is in progress\.$/)
  for (let n = 2; n <= 4; n++) {
    const next = await fixture.crash()
    if (n === 4) next.transport.script = (call) => take(call)
    await next.queue.start()
    await next.settled()
    t.is((await attempts(next, traceId)).length, n, 'the next start is stored')
    t.like((await attempts(next, traceId))[n - 2], { state: 'unknown', error: { code: 'interrupted' } })
    if (n < 4) {
      t.is((await next.trace(traceId)).status, 'queued', 'repeated crashes do not lose the message')
      Object.assign(fixture, { crash: next.crash.bind(next) })
      continue
    }
    await next.settled()
    t.is(next.attempted.length, 1, 'sent')
    t.like(await next.trace(traceId), { status: 'sent', attempts: 4 })
    t.is(await next.queueLength(), 0)
    t.regex(
      (await next.details(traceId)).join('\n'),
      /The process ended during this attempt; the provider may have accepted the message\. The outcome is unknown/,
    )
  }
})

test('attempt: an attempt without a committed end counts once after any crash', async (t) => {
  const fixture = await relaying(t, (call) => take(call), { deaf: true })
  const { traceId } = await fixture.submit({ rcptTo: three })
  const started = { number: 1, destinationId: 'dst_1', startedAt: startOfTime, state: 'started' } as const
  await fixture.database.commit(writeAttempt(new Change(), organizationId, traceId, started))
  const next = await fixture.crash()
  await next.queue.start()
  await next.settled()
  t.is(next.attempted.length, 1, 'sent')
  t.like(await next.trace(traceId), { attempts: 2, status: 'sent' })
  t.deepEqual(
    (await attempts(next, traceId)).map(({ number, state }) => `${number} ${state}`),
    ['1 unknown', '2 finished'],
  )
})

test('attempt: a deleted destination fails the message with that reason', async (t) => {
  const fixture = await relaying(t, (call) => take(call), { deaf: true })
  const { traceId } = await fixture.submit()
  await fixture.remove(destinations, 'dst_1')
  const next = await fixture.crash()
  await next.queue.start()
  await next.settled()
  t.is(next.attempted.length, 1, 'failed')
  t.is((await next.trace(traceId)).status, 'failed')
  t.deepEqual(next.transport.calls, [])
  t.is(await next.queueLength(), 0)
  t.is((await next.details(traceId))[3], 'attempt: Attempt 1 took 0 ms: The destination was deleted before the message could be delivered.')
})

test("attempt: waits while the destination's password cannot be decrypted", async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  await fixture.destination({ username: 'me', sealedPassword: 'v1.00000000.AAAA.AAAA' })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'attempted')
  t.like(await fixture.trace(traceId), { status: 'queued', nextAttemptAt: startOfTime + minute })
  t.regex((await fixture.details(traceId))[3] ?? '', /A secret of the destination cannot be decrypted with the current master key/)
  await fixture.destination({ username: 'me', updatedAt: startOfTime + 1 }, 'new secret')
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'sent')
  t.like(fixture.transport.calls[0]?.target, { password: 'new secret' })
  t.is((await fixture.trace(traceId)).status, 'sent')
})

test('attempt: uses the current settings of the destination', async (t) => {
  const fixture = await relaying(t, (call) => (call.nth === 1 ? report(call, 'transient') : take(call)))
  await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'first')
  await fixture.destination({ host: 'other.provider.test', updatedAt: startOfTime + 5 })
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'second')
  t.deepEqual(
    fixture.transport.calls.map(({ target }) => `${target.provider === 'smtp' && target.host} ${target.revision}`),
    [`smtp.provider.test ${startOfTime}`, `other.provider.test ${startOfTime + 5}`],
  )
})

test('attempt: retries a recipient missing in the report', async (t) => {
  const fixture = await relaying(t, (call) => (call.nth === 1 ? { ...report(call, 'accepted'), recipients: [] } : take(call)), {
    retry: { maxAgeMs: 2 * minute },
  })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'first')
  t.like(await fixture.trace(traceId), { status: 'queued', nextAttemptAt: startOfTime + minute })
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'second')
  t.is((await fixture.trace(traceId)).status, 'sent')
})

test('attempt: ignores reports about settled recipients', async (t) => {
  const fixture = await relaying(t, async (call) => {
    await call.job.beforeFinalDot()
    const said = report(call, { 'ben@example.net': 'transient' })
    if (call.nth === 1) return said
    return { ...said, recipients: [...said.recipients, { address: 'anna@example.net', verdict: 'permanent' }] }
  })
  const { traceId } = await fixture.submit({ rcptTo: three.slice(0, 2) })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'first')
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'second')
  t.deepEqual(fates(await fixture.trace(traceId)), ['anna@example.net sent', 'ben@example.net queued'])
})

for (const code of ['aborted', 'closed']) {
  test(`attempt: an attempt aborted as ${code} is due again immediately`, async (t) => {
    const fixture = await relaying(t, (call) => report(call, 'transient', code))
    await fixture.submit()
    await fixture.daemon.saw('attempted')
    const stopping = fixture.queue.stop(1)
    fixture.clock.advance(1)
    await stopping
    t.is((fixture.attempted[0] as { trace: Trace }).trace.nextAttemptAt, startOfTime)
    t.is((await queueHead(fixture.database, { destinationId: 'dst_1', projectId: 'prj_1' }, { limit: 5 })).length, 1)
  })
}

test('attempt: the start is durable before the final dot, and otherwise not written', async (t) => {
  const fixture = await relaying(t, async (call) => {
    if (call.nth === 1) return report(call, 'transient', 'connect_refused')
    t.deepEqual(column(await attempts(fixture, call.job.traceId), 'state'), ['finished'])
    await Promise.all([call.job.beforeFinalDot(), call.job.beforeFinalDot()])
    t.deepEqual(column(await attempts(fixture, call.job.traceId), 'state'), ['finished', 'started'])
    return report(call, 'accepted')
  })
  const writes: number[] = []
  await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'first')
  fixture.kv.beforeWrite = ({ sets }) => void writes.push(sets.length)
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'second')
  t.is(writes.length, 2, 'one write for the start, one for the end')
})

test('attempt: public and full view agree on the timeline', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  const shared = await fixture.traces.shared(traceId)
  t.deepEqual(
    column(shared.timeline, 'event'),
    (await fixture.details(traceId)).map((line) => line.split(':')[0] as never),
  )
  t.is((await fixture.traces.get(principal, traceId)).trace.id, traceId)
})

/** Three requests, one per recipient, each recorded before its end; the last one ends as given. */
const inRequests =
  (last: (call: Call) => Promise<AttemptReport>) =>
  async (call: Call): Promise<AttemptReport> => {
    const [anna = '', ben = '', carl = ''] = call.job.rcptTo
    if (call.nth > 1) return take(call)
    await call.job.beforeFinalDot([{ address: anna, verdict: 'unknown' }])
    await call.job.beforeFinalDot([
      { address: anna, verdict: 'accepted' },
      { address: ben, verdict: 'unknown' },
    ])
    await call.job.beforeFinalDot([
      { address: ben, verdict: 'permanent' },
      { address: carl, verdict: 'unknown' },
    ])
    return last(call)
  }

test('attempt: a crash between two requests resends to no recipient with a result', async (t) => {
  const fixture = await relaying(t, inRequests(hang))
  const { traceId } = await fixture.submit({ rcptTo: three })
  await fixture.settled()
  t.is((await attempts(fixture, traceId))[0]?.recipients?.length, 3, 'the last attempt is in flight')
  const next = await fixture.crash()
  await next.queue.start()
  await next.settled()
  t.is(next.attempted.length, 1, 'sent')
  t.deepEqual(next.transport.attemptsAt(traceId), [three, ['carl@example.net']])
  t.deepEqual(fates(await next.trace(traceId)), ['anna@example.net sent', 'ben@example.net failed', 'carl@example.net sent'])
  t.deepEqual(
    (await attempts(next, traceId)).map(({ number, state, recipients }) => [number, state, recipients?.map(({ verdict }) => verdict)]),
    [
      [1, 'unknown', ['accepted', 'permanent', 'unknown']],
      [2, 'finished', ['accepted']],
    ],
  )
})

test('attempt: a defect between two requests resends to no recipient with a result', async (t) => {
  const fixture = await relaying(
    t,
    inRequests(() => Promise.reject(new Error('a defect'))),
  )
  await fixture.queue.start()
  fixture.clock.advance(minute)
  const { traceId } = await fixture.submit({ rcptTo: three })
  await fixture.settled()
  t.is(fixture.errors.splice(0).length, 1, 'the defect is reported')
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  t.deepEqual(fixture.transport.attemptsAt(traceId), [three, ['carl@example.net']])
  t.like(await fixture.trace(traceId), { attempts: 2 })
})
