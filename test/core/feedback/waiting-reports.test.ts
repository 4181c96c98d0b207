/** Reports that come too early, or fit nothing: how long they wait, how many may, and where they are seen in the end. */
import test, { type ExecutionContext } from 'ava'
import { Feedback } from '#core/feedback/intake/feedback.ts'
import { PendingReports } from '#core/feedback/intake/pending-reports.ts'
import { WaitingRoom } from '#core/feedback/intake/waiting-room.ts'
import { unmatchedReports } from '#core/ingest-sources/unmatched-reports.ts'
import { maxRawReportBytes, readRawReport } from '#core/trace/story/raw-report.ts'
import { readReports } from '#core/trace/trace-report.ts'
import { within } from '#store/tuple.ts'
import { organizationId, until } from '../house.ts'
import { take } from '../scripted-transport.ts'
import { delivered, event, intakeOf, mailed, sendingHouse, signed, sound, tokenOf } from './reports.ts'

const dayMs = 86_400_000

/** A message whose delivery is under way until the provider answers. */
async function unanswered(t: ExecutionContext) {
  const house = await sendingHouse(t)
  const { promise, resolve: answer } = Promise.withResolvers<void>()
  house.transport.script = async (call) => {
    await promise
    return take(call)
  }
  const { traceId } = await house.submit({ destinationId: 'dst_1' })
  await until('the attempt is under way', () => house.transport.calls.length === 1)
  return { house, traceId, answer }
}

test('a bounce that comes before the answer of the provider is written down waits for it', async (t) => {
  const { house, traceId, answer } = await unanswered(t)
  const { feedback, pending } = intakeOf(house)
  const told = event({ clues: tokenOf(await house.trace(traceId)) })
  t.is((await feedback.take(signed, [told]))[0]?.result, 'unmatched')
  t.is((await feedback.take(signed, [told]))[0]?.result, 'duplicate')
  await pending.round()
  t.is((await house.trace(traceId)).status, 'queued')
  answer()
  await until('the message is sent', async () => (await house.trace(traceId)).status === 'sent')
  house.clock.advance(15_000)
  await until('the report is taken', async () => (await house.trace(traceId)).status === 'bounced')
  await pending.round()
  t.deepEqual(await house.keys('feedback.pending'), [])
  await sound(t, house)
})

test('the mail that many waiting reports came as is kept once, and goes to the trace that one of them fits', async (t) => {
  const { house, traceId, answer } = await unanswered(t)
  const { feedback, pending } = intakeOf(house)
  const raw = Buffer.alloc(100_000, 'a bounce for many ')
  const outsiders = Array.from({ length: 100 }, (_, i) => event({ recipient: `stranger${i}@example.org` }))
  await feedback.take({ ...mailed, raw }, [event({ clues: tokenOf(await house.trace(traceId)) }), ...outsiders])
  let bytes = 0
  for await (const { value } of house.database.kv.range(within(['']))) bytes += value.length
  t.true(bytes > maxRawReportBytes && bytes < 5 * maxRawReportBytes, String(bytes))
  answer()
  await until('the message is sent', async () => (await house.trace(traceId)).status === 'sent')
  await pending.round()
  const [report] = await readReports(house.database, organizationId, traceId)
  t.deepEqual(await readRawReport(house.database, organizationId, report?.record.id ?? ''), raw.subarray(0, maxRawReportBytes))
  await sound(t, house)
  await house.database.sweep(house.clock.now() + dayMs)
  t.deepEqual(await house.keys('feedback.pending-raw'), [])
})

test('a report that fits nothing is given up after a quarter of an hour, also across a restart', async (t) => {
  const house = await sendingHouse(t)
  const { feedback } = intakeOf(house)
  const [outcome] = await feedback.take(signed, [event({ clues: { messageIds: ['<nobody@example.net>'] } })])
  t.is(outcome?.result, 'unmatched')
  const next = await house.crash()
  const { pending } = intakeOf(next)
  next.clock.step(15 * 60_000 - 1)
  await pending.round()
  t.is((await next.keys('feedback.pending')).length, 1)
  next.clock.step(1)
  await pending.round()
  t.deepEqual(await next.keys('feedback.pending'), [])
})

test('one that our own code fails keeps no other waiting, and is given up when its time is over', async (t) => {
  const house = await sendingHouse(t)
  const { feedback, pending } = intakeOf(house)
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
  t.is(house.errors.splice(0).length, 1)
  t.is((await house.keys('feedback.pending')).length, 3)
  house.clock.step(15 * 60_000)
  await pending.round()
  t.is(house.errors.splice(0).length, 1)
  t.is((await house.keys('feedback.pending')).length, 2)
})

test('what fits no message is counted by its source, at once or when it is given up, and the latest bounces are told', async (t) => {
  const house = await sendingHouse(t)
  const { feedback, pending } = intakeOf(house)
  const { database, clock } = house
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
  await sound(t, house)
  await database.sweep(at + 31 * dayMs)
  const none = { delivered: 0, deferred: 0, bounced: 0, complained: 0 }
  t.deepEqual(await unmatchedReports(database, place, at), { counts: none, latest: [] })
})

test('of reports that fit nothing, so many wait for an organization; those whose message is under way still find room', async (t) => {
  const { house, traceId, answer } = await unanswered(t)
  const { context, errors } = house
  const room = new WaitingRoom(10, 20)
  const feedback = new Feedback({ ...context, room, onPending() {} })
  const pending = new PendingReports({ ...context, feedback, room, onError: (error) => void errors.push(error) })
  const waiting = async (): Promise<number> => (await house.keys('feedback.pending')).length
  for (let batch = 0; batch < 3; batch++)
    await feedback.take(
      signed,
      Array.from({ length: 4 }, (_, i) => event({ recipient: 'stranger@example.org', diagnostic: `${batch}/${i}` })),
    )
  t.is(await waiting(), 10)
  const place = { organizationId, sourceId: 'src_1' }
  t.is((await unmatchedReports(house.database, place, house.clock.now())).counts.bounced, 2)
  await feedback.take(signed, [event({ clues: tokenOf(await house.trace(traceId)) })])
  t.is(await waiting(), 11)
  house.clock.step(15 * 60_000)
  await pending.round()
  await feedback.take(signed, [event({ recipient: 'stranger@example.org' })])
  t.is(await waiting(), 1)
  answer()
})

test('a report about a recipient who still waits when its time is over is told all the same, and one of the next copy counts', async (t) => {
  const { house, traceId, answer } = await unanswered(t)
  const { feedback, pending } = intakeOf(house)
  await feedback.take(signed, [event({ clues: tokenOf(await house.trace(traceId)) })])
  house.clock.step(15 * 60_000)
  await pending.round()
  t.is((await house.trace(traceId)).status, 'queued')
  t.regex((await house.story(traceId)).at(-1) ?? '', /^bounced: /)
  t.deepEqual(await house.keys('feedback.pending'), [])
  answer()
  await until('the second copy is sent', async () => (await house.trace(traceId)).status === 'sent')
  const { updatedAt } = await house.trace(traceId)
  const tell = async (changes: Parameters<typeof event>[0]): Promise<readonly unknown[]> => {
    const [outcome] = await feedback.take(signed, [event({ clues: tokenOf(await house.trace(traceId)), ...changes })])
    return [outcome?.result, (await house.trace(traceId)).status]
  }
  t.deepEqual(await tell({ occurredAt: updatedAt - 1, diagnostic: 'the first copy once more' }), ['recorded', 'sent'])
  t.deepEqual(await tell({ occurredAt: updatedAt + 1, diagnostic: 'the second copy' }), ['duplicate', 'bounced'])
  t.is((await house.story(traceId)).filter((line) => line.startsWith('bounced: ')).length, 1)
  await sound(t, house)
})
