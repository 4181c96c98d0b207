/** Retry of one trace over the core: recipients, time, and refusals with the next step. */
import test, { type ExecutionContext } from '#test'
import { suppressions, type Suppression } from '#core/feedback/suppression/suppression.ts'
import { destinations } from '#core/routing/destination.ts'
import type { TraceStatus } from '#core/trace/states.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { Retries } from '#core/submission/replay/retries.ts'
import { startOfTime } from '../../../support/fake-clock.ts'
import { principal, type CoreFixture, relaying } from '../../core-fixture.ts'
import { hang, report, take, type Call, type Script } from '../../scripted-transport.ts'
import { column } from '../../../support/column.ts'

const two = ['anna@example.net', 'ben@example.net']
const safely = { includeUnknown: false }

async function setUp(t: ExecutionContext, script: Script): Promise<{ readonly fixture: CoreFixture; readonly retries: Retries }> {
  const fixture = await relaying(t, script)
  return { fixture, retries: fixture.core.retries }
}

async function submitted(fixture: CoreFixture, rcptTo: readonly string[] = ['anna@example.net']): Promise<string> {
  const { traceId } = await fixture.submit({ rcptTo })
  await fixture.settled()
  return traceId
}

async function settledAs(t: ExecutionContext, fixture: CoreFixture, id: string, status: TraceStatus): Promise<void> {
  await fixture.settled()
  t.is((await fixture.trace(id)).status, status)
}

test('retry: resends only to recipients that have not received the message', async (t) => {
  const { fixture, retries } = await setUp(t, (call) => take(call, call.nth === 1 ? { 'ben@example.net': 'permanent' } : 'accepted'))
  const id = await submitted(fixture, two)
  t.is((await fixture.trace(id)).status, 'failed')
  fixture.clock.advance(1000)
  t.like(await retries.retry(principal, id, safely), { status: 'queued', nextAttemptAt: fixture.clock.now() })
  await settledAs(t, fixture, id, 'sent')
  t.deepEqual(fixture.transport.attemptsAt(id), [two, ['ben@example.net']])
  const details = await fixture.details(id)
  t.true(
    details.some((line) => line.startsWith('retried: A retry queued the message again for 1 recipient')),
    details.join('\n'),
  )
  const events = details.map((line) => line.split(':', 1)[0])
  t.true(
    events.includes('bounced') && events.indexOf('bounced') < events.indexOf('retried'),
    `earlier events precede the retry: ${events.join()}`,
  )
  await fixture.settled()
  t.is(await fixture.queueLength(), 0)
})

test('retry: brings the next attempt forward with a new schedule', async (t) => {
  const { fixture, retries } = await setUp(t, (call) => (call.nth < 4 ? report(call, 'transient', 'refused') : take(call)))
  const id = await submitted(fixture)
  for (let n = 2; n <= 4; n++) {
    const { nextAttemptAt, attempts } = await fixture.trace(id)
    t.true((nextAttemptAt ?? 0) <= fixture.clock.now() + 72_000, 'the first wait is a minute, also after a retry')
    t.true((nextAttemptAt ?? 0) > fixture.clock.now())
    t.is(attempts, n - 1)
    t.like(await retries.retry(principal, id, safely), { status: 'queued', nextAttemptAt: fixture.clock.now() })
    await fixture.settled()
    t.is(fixture.attempted.length, n, 'the attempt ended')
    t.is(await fixture.queueLength(), n < 4 ? 1 : 0)
  }
  t.is((await fixture.trace(id)).status, 'sent')
})

test('retry: skips suppressed recipients until the suppression is removed', async (t) => {
  const { fixture, retries } = await setUp(t, (call) => take(call, call.nth === 1 ? 'permanent' : 'accepted'))
  const id = await submitted(fixture, two)
  const suppression: Suppression = {
    ...{ id: 'sup_1', projectId: null, email: 'anna@example.net', source: 'manual', reason: null, expiresAt: null, createdAt: startOfTime },
  }
  const bounces = (trace: Trace) => trace.recipients.map(({ bounce }) => bounce)
  const before = bounces(await fixture.trace(id))
  await fixture.put(suppressions, suppression)
  t.like(await retries.retry(principal, id, safely), { status: 'queued' })
  await settledAs(t, fixture, id, 'failed')
  await fixture.settled()
  t.deepEqual(fixture.transport.attemptsAt(id), [two, ['ben@example.net']])
  const left = await fixture.trace(id)
  t.deepEqual(column(left.recipients, 'status'), ['failed', 'sent'])
  t.deepEqual(left.recipients[0]?.bounce, before[0])
  t.like(await t.throwsAsync(retries.retry(principal, id, safely)), {
    code: 'conflict',
    nextAction: 'remove_suppression',
    message: 'Every remaining recipient is suppressed or has unsubscribed; remove the suppression, then retry.',
  })
  t.deepEqual(await fixture.trace(id), left, 'no change and no count')
  await fixture.remove(suppressions, suppression.id)
  await retries.retry(principal, id, safely)
  await settledAs(t, fixture, id, 'sent')
})

test('retry: concurrent retries and attempts make one attempt', async (t) => {
  const { fixture, retries } = await setUp(t, (call) => (call.nth === 1 ? report(call, 'permanent') : hang(call)))
  const id = await submitted(fixture)
  const both = await Promise.all([retries.retry(principal, id, safely), retries.retry(principal, id, safely)])
  t.deepEqual(column(both, 'status'), ['queued', 'queued'])
  await fixture.settled()
  t.is(fixture.transport.calls.length, 2, 'it is attempted')
  t.like(await retries.retry(principal, id, safely), { status: 'queued' })
  await fixture.settled()
  t.is(fixture.transport.calls.length, 2)
  t.is((await fixture.trace(id)).replays?.length, 1)
  t.is(await fixture.queueLength(), 1)
})

test('retry: joins an attempt in flight, also if the wall clock was set back', async (t) => {
  const handedOver = Promise.withResolvers<void>()
  const { fixture, retries } = await setUp(t, async (call) => {
    if (call.nth === 1) return report(call, 'permanent')
    await call.job.beforeFinalDot()
    handedOver.resolve()
    return hang(call)
  })
  const id = await submitted(fixture)
  await retries.retry(principal, id, safely)
  await handedOver.promise
  fixture.clock.step(-60_000)
  const before = await fixture.trace(id)
  t.deepEqual(await retries.retry(principal, id, { includeUnknown: true }), before)
  await fixture.settled()
  t.is(fixture.transport.calls.length, 2)
  t.is(await fixture.queueLength(), 1)
})

test('retry: repeats an unknown outcome only on request', async (t) => {
  const { fixture, retries } = await setUp(t, (call) => take(call, call.nth === 1 ? 'unknown' : 'accepted'))
  const id = await submitted(fixture)
  t.is((await fixture.trace(id)).status, 'queued')
  t.like(await t.throwsAsync(retries.retry(principal, id, safely)), {
    code: 'conflict',
    nextAction: 'include_unknown',
    message:
      'The last attempt ended without a reply, so the provider may have accepted the message; give include_unknown to risk a second copy.',
  })
  await fixture.settled()
  t.is(fixture.transport.calls.length, 1)
  await retries.retry(principal, id, { includeUnknown: true })
  await settledAs(t, fixture, id, 'sent')
})

test('retry: refuses otherwise settled messages with the next step', async (t) => {
  const { fixture, retries } = await setUp(t, (call) => take(call))
  const id = await submitted(fixture)
  const table: Readonly<Partial<Record<TraceStatus, string>>> = {
    sent: 'read_trace',
    delivered: 'read_trace',
    bounced: 'send_again',
    complained: 'read_trace',
    suppressed: 'remove_suppression',
    captured: 'send_again',
    canceled: 'send_again',
    validation_failed: 'fix_request',
  }
  for (const [status, nextAction] of Object.entries(table)) {
    await fixture.edit(traces, id, { status: status as TraceStatus })
    t.like(await t.throwsAsync(retries.retry(principal, id, safely), undefined, status), { code: 'conflict', nextAction })
  }
  t.is(await fixture.queueLength(), 0)
  await t.throwsAsync(retries.retry(principal, 'f9d1c6a0-0000-4000-8000-000000000000', safely), { code: 'not_found' })
  await t.throwsAsync(retries.retry({ ...principal, bound: true, projectId: 'prj_2' }, id, safely), { code: 'not_found' })
})

test('retry: refuses a deleted destination with advice for every plan', async (t) => {
  const { fixture, retries } = await setUp(t, (call) => take(call, 'permanent'))
  const id = await submitted(fixture)
  await fixture.remove(destinations, 'dst_1')
  t.like(await t.throwsAsync(retries.retry(principal, id, safely)), {
    code: 'conflict',
    nextAction: 'send_again',
    message:
      'Its destination was deleted; send a new message, or replay a failed message to another destination, if the plan includes bulk replay.',
  })
})

test('retry: refuses sandbox, used-up budget and scheduled send without changes', async (t) => {
  const { fixture, retries } = await setUp(t, (call: Call) => take(call, 'permanent'))
  const id = await submitted(fixture)
  await fixture.destination({ mode: 'sandbox' })
  await t.throwsAsync(retries.retry(principal, id, safely), { code: 'conflict', message: /is in sandbox mode; promote it to live/ })
  await fixture.destination()
  await fixture.project({ sendBudget: 1 })
  const before = await fixture.trace(id)
  await t.throwsAsync(retries.retry(principal, id, safely), { code: 'project_budget_exhausted' })
  t.deepEqual(await fixture.trace(id), before)
  await fixture.project({ sendBudget: null })
  await fixture.organization({ plan: 'pro' })
  const later = await fixture.submit({ sendAt: fixture.clock.now() + 3_600_000 })
  await t.throwsAsync(retries.retry(principal, later.traceId, safely), { code: 'conflict', message: /is scheduled for .*; cancel it/ })
})
