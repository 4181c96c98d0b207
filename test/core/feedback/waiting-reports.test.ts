/** Reports that arrive early or match nothing: waiting time, limits, and where they are shown. */
import test, { type ExecutionContext } from '#test'
import { Feedback } from '#core/feedback/intake/feedback.ts'
import { PendingReports } from '#core/feedback/intake/pending-reports.ts'
import { WaitingRoom } from '#core/feedback/intake/waiting-room.ts'
import { unmatchedReports } from '#core/ingest-sources/unmatched-reports.ts'
import { maxRawReportBytes, readRawReport } from '#core/trace/timeline/raw-report.ts'
import { readReports } from '#core/trace/trace-report.ts'
import { within } from '#store/tuple.ts'
import { organizationId } from '../core-fixture.ts'
import { take } from '../scripted-transport.ts'
import { delivered, event, intakeOf, mailed, sendingFixture, signed, sound, tokenOf } from './reports.ts'

const dayMs = 86_400_000

/** A message whose delivery is in progress until the provider answers. */
async function unanswered(t: ExecutionContext) {
  const fixture = await sendingFixture(t)
  const { promise, resolve: answer } = Promise.withResolvers<void>()
  fixture.transport.script = async (call) => {
    await promise
    return take(call)
  }
  const { traceId } = await fixture.submit({ destinationId: 'dst_1' })
  await fixture.settled()
  t.is(fixture.transport.calls.length, 1, 'the attempt is in flight')
  return { fixture, traceId, answer }
}

test("a bounce that arrives before the provider's answer is stored waits for it", async (t) => {
  const { fixture, traceId, answer } = await unanswered(t)
  const { feedback, pending } = intakeOf(fixture)
  const told = event({ clues: tokenOf(await fixture.trace(traceId)) })
  t.is((await feedback.take(signed, [told]))[0]?.result, 'unmatched')
  t.is((await feedback.take(signed, [told]))[0]?.result, 'duplicate')
  await pending.round()
  t.is((await fixture.trace(traceId)).status, 'queued')
  answer()
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'sent', 'the message is sent')
  fixture.clock.advance(15_000)
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'bounced', 'the report is accepted')
  await pending.round()
  t.deepEqual(await fixture.keys('feedback.pending'), [])
  await sound(t, fixture)
})

test('the mail of many waiting reports is stored once, and moves to the matching trace', async (t) => {
  const { fixture, traceId, answer } = await unanswered(t)
  const { feedback, pending } = intakeOf(fixture)
  const raw = Buffer.alloc(100_000, 'a bounce for many ')
  const outsiders = Array.from({ length: 100 }, (_, i) => event({ recipient: `stranger${i}@example.org` }))
  await feedback.take({ ...mailed, raw }, [event({ clues: tokenOf(await fixture.trace(traceId)) }), ...outsiders])
  let bytes = 0
  for await (const { value } of fixture.database.kv.range(within(['']))) bytes += value.length
  t.true(bytes > maxRawReportBytes && bytes < 5 * maxRawReportBytes, String(bytes))
  answer()
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'sent', 'the message is sent')
  await pending.round()
  const [report] = await readReports(fixture.database, organizationId, traceId)
  t.deepEqual(await readRawReport(fixture.database, organizationId, report?.record.id ?? ''), raw.subarray(0, maxRawReportBytes))
  await sound(t, fixture)
  await fixture.database.sweep(fixture.clock.now() + dayMs)
  t.deepEqual(await fixture.keys('feedback.pending-raw'), [])
})

test('waiting reports: an unmatched one expires after 15 minutes, also over a restart', async (t) => {
  const fixture = await sendingFixture(t)
  const { feedback } = intakeOf(fixture)
  const [outcome] = await feedback.take(signed, [event({ clues: { messageIds: ['<nobody@example.net>'] } })])
  t.is(outcome?.result, 'unmatched')
  const next = await fixture.crash()
  const { pending } = intakeOf(next)
  next.clock.step(15 * 60_000 - 1)
  await pending.round()
  t.is((await next.keys('feedback.pending')).length, 1)
  next.clock.step(1)
  await pending.round()
  t.deepEqual(await next.keys('feedback.pending'), [])
})

test('waiting reports: a defect in one report delays no other, and the report expires', async (t) => {
  const fixture = await sendingFixture(t)
  const { feedback, pending } = intakeOf(fixture)
  const told = Array.from({ length: 3 }, (_, i) => event({ diagnostic: `no message ${i}` }))
  await feedback.take(signed, told)
  const tried: string[] = []
  feedback.retry = ({ event: { key } }) => {
    tried.push(key)
    return key === told[1]?.key ? Promise.reject(new Error('a defect')) : Promise.resolve(false)
  }
  t.teardown(() => pending.stop())
  await pending.round()
  t.deepEqual(tried.toSorted(), told.map(({ key }) => key).toSorted())
  t.is(fixture.errors.splice(0).length, 1)
  t.is((await fixture.keys('feedback.pending')).length, 3)
  fixture.clock.step(15 * 60_000)
  await pending.round()
  t.is(fixture.errors.splice(0).length, 1)
  t.is((await fixture.keys('feedback.pending')).length, 2)
})

test('a source counts its unmatched events and lists the latest bounces', async (t) => {
  const fixture = await sendingFixture(t)
  const { feedback, pending } = intakeOf(fixture)
  const { database, clock } = fixture
  const place = { organizationId, sourceId: 'src_1' }
  const outsider = event({ recipient: 'stranger@example.org', clues: { messageIds: ['<other@example.org>'] } })
  const arrivals = [1, 2].map((n) => delivered({ recipient: 'stranger@example.org', diagnostic: `250 ${n}` }))
  await feedback.take(signed, [outsider, ...arrivals])
  await feedback.take(signed, [outsider, ...arrivals])
  const counts = { delivered: 2, deferred: 0, bounced: 0, complained: 0 }
  t.deepEqual(await unmatchedReports(database, place, clock.now()), { counts, latest: [] })
  clock.step(15 * 60_000)
  await pending.round()
  const at = clock.now()
  const row = { at, type: 'bounced', occurredAt: null, recipient: 'stranger@example.org', messageId: '<other@example.org>' } as const
  const latest = [{ ...row, status: '5.1.1', diagnostic: '550 5.1.1 no such user' }]
  t.deepEqual(await unmatchedReports(database, place, at), { counts: { ...counts, bounced: 1 }, latest })
  await sound(t, fixture)
  await database.sweep(at + 31 * dayMs)
  const none = { delivered: 0, deferred: 0, bounced: 0, complained: 0 }
  t.deepEqual(await unmatchedReports(database, place, at), { counts: none, latest: [] })
})

test('unmatched waiting reports are limited; reports of messages in flight have extra room', async (t) => {
  const { fixture, traceId, answer } = await unanswered(t)
  const { context, errors } = fixture
  const room = new WaitingRoom(10, 20)
  const feedback = new Feedback({ ...context, room, onPending() {} })
  const pending = new PendingReports({ ...context, feedback, room, onError: (error) => void errors.push(error) })
  const waiting = async (): Promise<number> => (await fixture.keys('feedback.pending')).length
  for (let batch = 0; batch < 3; batch++)
    await feedback.take(
      signed,
      Array.from({ length: 4 }, (_, i) => event({ recipient: 'stranger@example.org', diagnostic: `${batch}/${i}` })),
    )
  t.is(await waiting(), 10)
  const place = { organizationId, sourceId: 'src_1' }
  t.is((await unmatchedReports(fixture.database, place, fixture.clock.now())).counts.bounced, 2)
  await feedback.take(signed, [event({ clues: tokenOf(await fixture.trace(traceId)) })])
  t.is(await waiting(), 11)
  fixture.clock.step(15 * 60_000)
  await pending.round()
  await feedback.take(signed, [event({ recipient: 'stranger@example.org' })])
  t.is(await waiting(), 1)
  answer()
})

test('a report about a recipient still in flight is recorded at its end; later ones count', async (t) => {
  const { fixture, traceId, answer } = await unanswered(t)
  const { feedback, pending } = intakeOf(fixture)
  await feedback.take(signed, [event({ clues: tokenOf(await fixture.trace(traceId)) })])
  fixture.clock.step(15 * 60_000)
  await pending.round()
  t.is((await fixture.trace(traceId)).status, 'queued')
  t.regex((await fixture.details(traceId)).at(-1) ?? '', /^bounced: /)
  t.deepEqual(await fixture.keys('feedback.pending'), [])
  answer()
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'sent', 'the second copy is sent')
  const { updatedAt } = await fixture.trace(traceId)
  const tell = async (changes: Parameters<typeof event>[0]): Promise<readonly unknown[]> => {
    const [outcome] = await feedback.take(signed, [event({ clues: tokenOf(await fixture.trace(traceId)), ...changes })])
    return [outcome?.result, (await fixture.trace(traceId)).status]
  }
  t.deepEqual(await tell({ occurredAt: updatedAt - 1, diagnostic: 'the first copy once more' }), ['recorded', 'sent'])
  t.deepEqual(await tell({ occurredAt: updatedAt + 1, diagnostic: 'the second copy' }), ['duplicate', 'bounced'])
  t.is((await fixture.details(traceId)).filter((line) => line.startsWith('bounced: ')).length, 1)
  await sound(t, fixture)
})
