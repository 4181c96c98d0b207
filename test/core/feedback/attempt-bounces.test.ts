/** Recipients with a permanent refusal during delivery: status failed, and reported as a bounce. */
import test, { type ExecutionContext } from '#test'
import { bouncesIn } from '#core/feedback/apply/attempt-bounces.ts'
import { suppressions } from '#core/feedback/suppression/suppression.ts'
import { requeue } from '#core/submission/replay/requeue.ts'
import { Change } from '#store/change.ts'
import { enqueue } from '#store/queue.ts'
import { readReports } from '#core/trace/trace-report.ts'
import { bounceOf, traces } from '#core/trace/trace.ts'
import { webhookDeliveries } from '#core/webhooks/delivery.ts'
import { webhookEndpoints } from '#core/webhooks/endpoint.ts'
import { organizationId, projectId, principal, type CoreFixture } from '../core-fixture.ts'
import type { AttemptReport } from '#core/delivery/transport.ts'
import { report, take, type Call } from '../scripted-transport.ts'
import { event, hook, intakeOf, sendingFixture, suppressingFixture, signed, sound, tokenOf } from './reports.ts'

const [anna, ben, carl, dora] = ['anna@example.net', 'ben@example.net', 'carl@example.net', 'dora@example.net']
const replies: Readonly<Record<string, { code: number; enhanced: string; text: string }>> = {
  [anna]: { code: 550, enhanced: '5.1.1', text: 'no such user' },
  [ben]: { code: 552, enhanced: '5.2.2', text: 'mailbox full' },
  [carl]: { code: 554, enhanced: '5.7.1', text: 'blocked because of poor reputation' },
}

const gone = { code: 451, enhanced: '5.1.1', text: 'no such user' } // never hard, since the refusal is temporary

/** Refuses the recipients that have a reply above. */
function refuse(call: Call) {
  const verdicts = Object.fromEntries(Object.keys(replies).map((address) => [address, 'permanent' as const]))
  const seen = report(call, verdicts)
  const recipients = seen.recipients.map((one) => ({ ...one, reply: replies[one.address] ?? one.reply }))
  return { ...seen, recipients, milliseconds: { mail: 1, rcpt: 1 } }
}

async function refused(
  t: ExecutionContext,
  rcptTo: readonly string[],
  script: (call: Call) => AttemptReport = refuse,
): Promise<{ fixture: CoreFixture; traceId: string }> {
  const fixture = await suppressingFixture(t)
  await fixture.put(webhookEndpoints, hook)
  fixture.transport.script = async (call) => (await take(call), script(call))
  const { traceId } = await fixture.submit({ destinationId: 'dst_1', rcptTo })
  await fixture.settled()
  t.not((await fixture.trace(traceId)).status, 'queued')
  return { fixture, traceId }
}

const listed = async (fixture: CoreFixture): Promise<string[]> =>
  (await fixture.database.all(suppressions, { organizationId })).map(({ record }) => record.email)

const bodies = async (fixture: CoreFixture) =>
  (await fixture.database.all(webhookDeliveries, { organizationId })).map(
    ({ record }) =>
      JSON.parse(record.body) as { type: string; data: { recipient: string; corrects: string | null; bounce: { class: string } | null } },
  )

test('a refusal sets the bounce class in trace, events and list, and status failed', async (t) => {
  const { fixture, traceId } = await refused(t, [anna, ben, carl, dora])
  const trace = await fixture.trace(traceId)
  t.deepEqual(
    trace.recipients.map((one) => [one.address, one.status, bounceOf(one), one.report?.type]),
    [
      [anna, 'failed', 'hard', 'bounced'],
      [ben, 'failed', 'soft', 'bounced'],
      [carl, 'failed', 'block', 'bounced'],
      [dora, 'sent', null, undefined],
    ],
  )
  const told = (await bodies(fixture)).map(({ type, data }) => `${type} ${data.recipient} ${data.bounce?.class ?? ''}`)
  t.deepEqual(told.toSorted(), [`auto_suppressed ${anna} hard`, `failed ${anna} hard`, `failed ${ben} soft`, `failed ${carl} block`])
  t.deepEqual(await listed(fixture), [anna])
  const details = await fixture.details(traceId)
  t.is(details.filter((line) => line.startsWith('bounced: ')).length, 3)
  t.is(details.filter((line) => line.startsWith('auto_suppressed: ')).length, 1)
  const found = async (bounce: 'hard' | 'soft' | 'block', to?: string) =>
    (await fixture.traces.list(principal, { bounce, to, limit: 10 })).rows.length
  t.deepEqual(await Promise.all([found('hard'), found('soft'), found('block'), found('hard', ben), found('soft', ben)]), [1, 1, 1, 0, 1])
  await sound(t, fixture)
})

test('without the flag no address is suppressed, and the class is still recorded', async (t) => {
  const fixture = await sendingFixture(t)
  fixture.transport.script = async (call) => (await take(call), refuse(call))
  const { traceId } = await fixture.submit({ destinationId: 'dst_1', rcptTo: [anna] })
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'failed', 'the status is final')
  t.is(bounceOf((await fixture.trace(traceId)).recipients[0] ?? {}), 'hard')
  t.deepEqual(await listed(fixture), [])
})

test('a later bounce report about a failed recipient changes nothing', async (t) => {
  const { fixture, traceId } = await refused(t, [ben])
  for (const format of ['dsn', 'postfix'] as const) {
    const told = event({ format, recipient: ben, clues: tokenOf(await fixture.trace(traceId)) })
    t.is((await intakeOf(fixture).feedback.take(signed, [told]))[0]?.result, 'duplicate')
  }
  t.like((await fixture.trace(traceId)).recipients[0], { status: 'failed', bounce: 'soft' })
  await sound(t, fixture)
})

test('content refusals suppress no recipient; sender and HTTP refusals are no bounces', async (t) => {
  const noSuchUser = { code: 550, enhanced: '5.1.1', text: 'recipient unknown' }
  const { fixture, traceId } = await refused(t, [anna, ben], (call) => ({
    ...report(call, 'permanent'),
    recipients: call.job.rcptTo.map((address) => ({ address, verdict: 'permanent' as const, reply: noSuchUser, ofMessage: true as const })),
  }))
  const trace = await fixture.trace(traceId)
  t.deepEqual(trace.recipients.map(bounceOf), ['hard', 'hard'])
  t.deepEqual(await listed(fixture), [])
  const before = { ...trace, recipients: trace.recipients.map((one) => ({ ...one, status: 'queued' as const })) }
  const seen = { address: anna, verdict: 'permanent', reply: noSuchUser } as const
  const bounces = (changes: object, provider = 'smtp') =>
    bouncesIn(before, trace, { provider, host: 'h', recipients: [{ ...seen, ...changes }] }, 1)
  t.is(bounces({}).length, 1)
  t.deepEqual(
    [bounces({ ofSender: true }), bounces({ isUnasked: true }), bounces({ reply: undefined }), bounces({}, 'sendgrid')],
    [[], [], [], []],
  )
  await sound(t, fixture)
})

test('a retried recipient has no bounce, and a second bounce replaces the first', async (t) => {
  const { fixture, traceId } = await refused(t, [anna])
  const [entry] = await fixture.database.all(suppressions, { organizationId })
  t.is(entry?.record.email, anna)
  const again = requeue(await fixture.trace(traceId), [], {
    jobId: 'j',
    destinationId: 'dst_1',
    includeUnknown: true,
    now: fixture.clock.now(),
  })
  t.is(again && bounceOf(again.recipients[0] ?? {}), null)
  t.is((await readReports(fixture.database, organizationId, traceId)).length, 1)
})

/** Sends the message again like a replay, and attempts delivery with the script. */
async function replayed(fixture: CoreFixture, traceId: string, script: typeof refuse | 'accepted'): Promise<void> {
  fixture.clock.advance(60_000)
  const stored = await fixture.database.get(traces, { organizationId }, traceId)
  const next = stored && requeue(stored.record, [], { jobId: 'j', destinationId: 'dst_1', includeUnknown: true, now: fixture.clock.now() })
  if (!next) throw new Error('nothing to send again')
  fixture.transport.script = async (call) => (script === 'accepted' ? take(call) : (await take(call), script(call)))
  const entry = { destinationId: 'dst_1', projectId, dueMs: fixture.clock.now(), traceId, organizationId, attempts: next.attempts }
  await fixture.database.commit(enqueue(new Change().rewrite(traces, organizationId, stored, next), entry))
  fixture.queue.offer(entry, undefined, false)
  await fixture.settled()
}

test('a recipient removed from the list returns after another permanent refusal', async (t) => {
  const { fixture, traceId } = await refused(t, [anna])
  for (const { record } of await fixture.database.all(suppressions, { organizationId }))
    await fixture.core.suppressions.remove(principal, record.id)
  await replayed(fixture, traceId, refuse)
  t.deepEqual(await listed(fixture), [anna])
  await sound(t, fixture)
})

test('an earlier bounce of another copy does not replace the first one', async (t) => {
  const { fixture, traceId } = await refused(t, [carl])
  await replayed(fixture, traceId, 'accepted')
  t.like((await fixture.trace(traceId)).recipients[0], { status: 'sent' })
  fixture.clock.advance(1000)
  const told = event({ recipient: carl, clues: tokenOf(await fixture.trace(traceId)) })
  const late = event({ ...told, key: '', occurredAt: fixture.clock.now() - 61_000, status: '5.2.2', diagnostic: '552 5.2.2 mailbox full' })
  t.like((await intakeOf(fixture).feedback.take(signed, [told]))[0], { result: 'recorded', bounce: 'hard', suppressed: true })
  t.like((await fixture.trace(traceId)).recipients[0], { status: 'bounced', bounce: 'hard' })
  t.is((await intakeOf(fixture).feedback.take(signed, [late]))[0]?.result, 'duplicate')
  t.deepEqual(await listed(fixture), [carl])
  t.deepEqual((await bodies(fixture)).map(({ type, data }) => `${type} ${data.bounce?.class ?? ''} ${data.corrects ?? ''}`).toSorted(), [
    'auto_suppressed hard ',
    'bounced hard ',
    'failed block ',
  ])
  await sound(t, fixture)
})

test("after a replay, a bounce counts even if its server's clock is hours behind", async (t) => {
  const { fixture, traceId } = await refused(t, [carl])
  await replayed(fixture, traceId, 'accepted')
  const clues = tokenOf(await fixture.trace(traceId))
  const told = event({ recipient: carl, clues, occurredAt: fixture.clock.now() - 7 * 3_600_000 })
  t.like((await intakeOf(fixture).feedback.take(signed, [told]))[0], { result: 'recorded', bounce: 'hard' })
  t.like((await fixture.trace(traceId)).recipients[0], { status: 'bounced', bounce: 'hard' })
  await sound(t, fixture)
})

test('an expired message is a soft bounce without suppression; faults are no bounce', async (t) => {
  const full = { code: 452, enhanced: '4.2.2', text: 'mailbox full' }
  const fixture = await suppressingFixture(t)
  await fixture.put(webhookEndpoints, hook)
  fixture.transport.script = (call) => {
    const recipients = call.job.rcptTo.map((address) => ({ address, verdict: 'transient' as const, reply: address === ben ? gone : full }))
    return { ...report(call, 'transient'), recipients }
  }
  const { traceId } = await fixture.submit({ destinationId: 'dst_1', rcptTo: [anna, ben] })
  await fixture.settled()
  t.deepEqual((await fixture.trace(traceId)).recipients.map(bounceOf), [null, null])
  for (let hours = 0; (await fixture.trace(traceId)).status === 'queued' && hours < 240; hours += 3) {
    fixture.clock.advance(3 * 3_600_000)
    await fixture.settled()
  }
  const trace = await fixture.trace(traceId)
  t.deepEqual(trace.recipients.map(bounceOf), ['soft', 'soft'])
  t.deepEqual(
    (await bodies(fixture)).map(({ type, data }) => `${type} ${data.bounce?.class ?? ''}`),
    ['failed soft', 'failed soft'],
  )
  t.is((await fixture.traces.list(principal, { bounce: 'soft', limit: 10 })).rows.length, 1)
  t.deepEqual([await listed(fixture), await fixture.keys('feedback.soft')], [[], []])
  const before = { ...trace, recipients: trace.recipients.map((one) => ({ ...one, status: 'queued' as const })) }
  const recipients = [{ address: anna, verdict: 'transient', reply: full }] as const
  t.is(bouncesIn(before, trace, { recipients }, 1).length, 1)
  for (const code of ['peer_closing', 'provider_rate_limited'])
    t.deepEqual(bouncesIn(before, trace, { recipients, error: { code, message: 'x', phase: 'rcpt' } }, 1), [])
  await sound(t, fixture)
})
