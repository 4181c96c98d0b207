/** Metrics of feedback count each event once, and only durable ones. */
import test from '#test'
import { observeBounces, observeCounts, type ReportedBounce } from '#core/feedback/suppression/counts.ts'
import { principal, type CoreFixture } from '../core-fixture.ts'
import { report, take } from '../scripted-transport.ts'
import { complaint, event, intakeOf, mailed, sendingFixture, suppressingFixture, signed, tokenOf } from './reports.ts'

function counting(fixture: CoreFixture): string[] {
  const counted: string[] = []
  observeCounts(fixture.database, {
    bounced: (bounceClass) => void counted.push(`bounced ${bounceClass}`),
    complained: () => void counted.push('complained'),
    suppressed: (source) => void counted.push(`suppressed ${source}`),
  })
  return counted
}

test('bounces, complaints and suppressions count once, regardless of repeated reports', async (t) => {
  const fixture = await suppressingFixture(t)
  const counted = counting(fixture)
  const { feedback } = intakeOf(fixture)
  const { traceId } = await fixture.submit({ destinationId: 'dst_1' })
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'sent', 'sent')
  const trace = await fixture.trace(traceId)
  const vague = event({ clues: tokenOf(trace), status: null, diagnostic: 'mailbox is full', isStructured: false })
  await feedback.take(mailed, [vague])
  await feedback.take(signed, [event({ clues: tokenOf(trace) })])
  await feedback.take(signed, [event({ clues: tokenOf(trace), remoteMta: 'other.example.net' })])
  t.is(counted.filter((one) => one.startsWith('bounced')).length, 1, counted.join())
  await feedback.take(signed, [complaint({ clues: tokenOf(trace) }), complaint({ clues: tokenOf(trace), key: 'again' })])
  t.is(counted.filter((one) => one === 'complained').length, 1)
  t.is(counted.filter((one) => one.startsWith('suppressed')).length, 1, counted.join())
})

test('a permanent refusal during delivery counts as a bounce of its class', async (t) => {
  const fixture = await sendingFixture(t)
  const counted = counting(fixture)
  fixture.transport.script = async (call) => (await take(call), { ...report(call, 'permanent'), milliseconds: { mail: 1, rcpt: 1 } })
  const { traceId } = await fixture.submit({ destinationId: 'dst_1' })
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'failed', 'failed')
  t.deepEqual(counted, ['bounced hard'])
  await intakeOf(fixture).feedback.take(signed, [event({ clues: tokenOf(await fixture.trace(traceId)) })])
  t.deepEqual(counted, ['bounced hard'])
})

test('observeBounces(): a later bounce is observed once, with its recipient and text', async (t) => {
  const fixture = await suppressingFixture(t)
  const told: ReportedBounce[] = []
  observeBounces(fixture.database, (bounce) => void told.push(bounce))
  const { feedback } = intakeOf(fixture)
  const { traceId } = await fixture.submit({ destinationId: 'dst_1' })
  await fixture.settled()
  const bounce = event({ clues: tokenOf(await fixture.trace(traceId)) })
  await feedback.take(signed, [bounce])
  await feedback.take(signed, [{ ...bounce, remoteMta: 'other.example.net' }])
  t.is(told.length, 1)
  t.like(told[0], { traceId, bounce: 'hard', status: bounce.status, diagnostic: bounce.diagnostic })
  t.truthy(told[0]?.recipient)
})

test('a manual entry counts when it is new, and not again', async (t) => {
  const fixture = await sendingFixture(t)
  const counted = counting(fixture)
  const { suppressions: list } = fixture.core
  const twice = { email: 'gone@example.net' }
  await Promise.all([list.add(principal, twice), list.add(principal, twice)])
  await list.add(principal, { ...twice, expiresAt: null })
  t.deepEqual(counted, ['suppressed manual'])
})
