/** Several reports about one recipient: the strongest evidence decides in any order, and corrections are sent as events. */
import test, { type ExecutionContext } from '#test'
import type { FeedbackEvent } from '#core/feedback/event.ts'
import type { FeedbackOrigin } from '#core/feedback/feedback-origin.ts'
import { suppressions } from '#core/feedback/suppression/suppression.ts'
import { removeTrace } from '#core/retention/remove-trace.ts'
import { readRawReport } from '#core/trace/timeline/raw-report.ts'
import { keptMailId, readReports, traceReports, type TraceReport } from '#core/trace/trace-report.ts'
import { bounceOf, traces, type Trace } from '#core/trace/trace.ts'
import { webhookDeliveries } from '#core/webhooks/delivery.ts'
import { webhookEndpoints } from '#core/webhooks/endpoint.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { organizationId, principal, type CoreFixture } from '../core-fixture.ts'
import { complaint, delivered, event, hook, intakeOf, mailed, suppressingFixture, sentMessage, signed, sound, tokenOf } from './reports.ts'
import { column } from '../../support/column.ts'

/** A report about the recipient with the given index. */
type Telling = (trace: Trace) => { readonly origin: FeedbackOrigin; readonly told: FeedbackEvent }

const vagueText = { isStructured: false, status: null, smtpCode: null, diagnostic: 'Sorry, your message could not be delivered.' }
const full = { status: '5.2.2', smtpCode: 552, diagnostic: '552 5.2.2 mailbox full' }
const blocked = { status: '5.7.1', smtpCode: 554, diagnostic: '554 5.7.1 blocked because of poor reputation' }
const addressOf = ({ recipients }: Trace, at: number): string => recipients[at]?.address ?? ''

/** Sent to the return path of the recipient, if the message has one. */
const returned =
  (changes: Parameters<typeof event>[0] = {}, at = 0, make = event): Telling =>
  (trace) => {
    const returnPath = trace.recipients[at]?.verp ?? ''
    const origin = { organizationId: null, sourceId: null, channel: 'bounce_domain', returnPath, hasNullSender: true } as const
    return { origin, told: make({ recipient: addressOf(trace, at), ...changes }) }
  }

/** Identified by the token in the message, from a mailbox by default. */
const byToken =
  (changes: Parameters<typeof event>[0] = {}, at = 0, origin: FeedbackOrigin = mailed, make = event): Telling =>
  (trace) => ({ origin, told: make({ recipient: addressOf(trace, at), clues: tokenOf(trace), ...changes }) })

/** Identified only by the Message-ID. */
const forged =
  (changes: Parameters<typeof event>[0] = {}): Telling =>
  (trace) => ({
    origin: mailed,
    told: event({ recipient: addressOf(trace, 0), clues: { messageIds: [`<${trace.messageId}>`] }, ...changes }),
  })

const log = (changes: Parameters<typeof event>[0] = {}, at = 0): Telling => byToken({ format: 'postfix', ...changes }, at, signed)

function* ordersOf<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length === 0) yield []
  for (const [i, item] of items.entries()) for (const rest of ordersOf(items.toSpliced(i, 1))) yield [item, ...rest]
}

/** The result of the reports: state and class of each recipient, reports of the trace, the list, and the latest events. */
async function endOf(fixture: CoreFixture, { id }: Trace) {
  const { trace, reports } = await fixture.traces.get(principal, id)
  const plain = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(id, 'ID')
        .replaceAll(/(anna|ben)\d+@/g, '$1@'),
    )
  const addresses = trace.recipients.map(({ address }) => address)
  const list = (await fixture.database.all(suppressions, { organizationId })).map(({ record }) => record)
  const events = (await fixture.database.all(webhookDeliveries, { organizationId }))
    .map(
      ({ record }) =>
        JSON.parse(record.body) as {
          id: string
          type: string
          data: {
            trace_id: string
            recipient: string
            corrects: string | null
            bounce: { class: string; category: string; status: string } | null
          }
        },
    )
    .filter(({ data }) => data.trace_id === id && data.recipient !== '')
  const corrected = new Set(events.map(({ data }) => data.corrects))
  const standing = events.filter((one) => one.type !== 'auto_suppressed' && !corrected.has(one.id))
  return plain({
    recipients: trace.recipients.map((one) => ({
      address: one.address,
      status: one.status,
      bounce: bounceOf(one),
      reason: one.report?.reason,
    })),
    reports: reports
      .map((one) => ({ ...one, id: '', at: 0, suppression: null, revisions: 0, eventId: '', sourceId: '' }))
      .toSorted((a, b) => `${a.type}${a.recipient ?? ''}`.localeCompare(`${b.type}${b.recipient ?? ''}`)),
    list: list
      .filter(({ email }) => addresses.includes(email))
      .map(({ email, source, reason }) => ({ email, source, reason }))
      .toSorted((a, b) => a.email.localeCompare(b.email)),
    soft: (await fixture.keys(`feedback.soft`)).filter(
      (key) => addresses.some((address) => key.includes(address)) && !key.includes('expire'),
    ),
    events: standing
      .map(({ type, data: { recipient, bounce } }) => ({
        type,
        recipient,
        bounce: bounce && [bounce.class, bounce.category, bounce.status],
      }))
      .toSorted((a, b) => `${a.type}${a.recipient}`.localeCompare(`${b.type}${b.recipient}`)),
  }) as {
    readonly recipients: readonly { readonly bounce: string | null }[]
    readonly list: readonly { readonly source: string }[]
    readonly reports: readonly unknown[]
  }
}

let messages = 0

async function prepared(t: ExecutionContext): Promise<CoreFixture> {
  const fixture = await suppressingFixture(t)
  await fixture.put(webhookEndpoints, hook)
  return fixture
}

const messageTo = (fixture: CoreFixture, recipients: number, verp: boolean): Promise<Trace> => {
  const n = ++messages
  const rcptTo = ['anna', 'ben'].slice(0, recipients).map((name) => `${name}${n}@example.net`)
  return sentMessage(fixture, {
    rcptTo,
    facts: { ...facts, messageId: `m${n}@example.com` },
    ...(verp && { verp: { bounceDomain: null } }),
  })
}
const facts = { prefix: '', subject: 'hi', headerFrom: '', headerAddresses: [], eightBit: false }

/** Applies every order of the same reports, each to a new message, and returns their common result. */
async function sameEnd(t: ExecutionContext, tellings: readonly Telling[], { recipients = 1, verp = false, isStatusOpen = false } = {}) {
  const fixture = await prepared(t)
  const ends = new Map<string, Awaited<ReturnType<typeof endOf>>>()
  for (const order of ordersOf(tellings)) {
    const trace = await messageTo(fixture, recipients, verp)
    for (const telling of order) {
      const { origin, told } = telling(trace)
      await intakeOf(fixture).feedback.take(origin, [told])
    }
    const end = await endOf(fixture, trace)
    const shown = isStatusOpen ? { ...end, recipients: end.recipients.map(({ bounce }) => bounce) } : end
    ends.set(JSON.stringify(shown), end)
  }
  t.deepEqual([...ends.keys()].slice(1), [], `one result, not ${ends.size}`)
  await sound(t, fixture)
  const [end] = ends.values()
  if (!end) throw new Error('no end')
  return end
}

test('a vague notice with a DSN and a log line, in any order: hard and suppressed', async (t) => {
  const end = await sameEnd(t, [returned(vagueText), returned(), log({ occurredAt: startOfTime - 5000 }), forged()], { verp: true })
  t.like(end, { recipients: [{ status: 'bounced', bounce: 'hard' }], list: [{ source: 'bounce' }], reports: { length: 1 } })
})

test('evidence: a log suppresses each of two recipients, before or after the DSN', async (t) => {
  const end = await sameEnd(t, [byToken({}, 0), byToken({}, 1), log({}, 0), log({}, 1)], { recipients: 2 })
  t.is(end.list.length, 2)
  t.deepEqual(column(end.recipients, 'bounce'), ['hard', 'hard'])
})

test('a DSN about a full mailbox replaces a prose notice and its suppression', async (t) => {
  const end = await sameEnd(t, [returned({ isStructured: false }), returned(full), returned(vagueText)], { verp: true })
  t.like(end, { recipients: [{ bounce: 'soft' }], list: { length: 0 } })
})

test('contradicting evidence of equal strength has one result in any order', async (t) => {
  const tellings = [
    returned(full),
    returned(blocked),
    returned({ diagnostic: '550 5.1.1 unknown' }),
    returned({ occurredAt: startOfTime - 1000 }),
  ]
  await sameEnd(t, tellings, { verp: true })
})

test('complaint, bounce and delivery of one recipient: the list shows the strongest cause', async (t) => {
  const spam = returned({}, 0, complaint)
  const notSpam = returned({ feedbackType: 'not-spam' }, 0, complaint)
  const end = await sameEnd(t, [spam, notSpam, returned(), returned({}, 0, delivered)], { verp: true, isStatusOpen: true })
  t.like(end, { list: [{ source: 'complaint' }] })
})

test('evidence: a final bounce replaces delays', async (t) => {
  const delay = { type: 'deferred', action: 'delayed', status: '4.2.2', smtpCode: 452, diagnostic: '452 4.2.2 full' } as const
  await sameEnd(
    t,
    [
      log({ ...delay, occurredAt: startOfTime - 9000 }),
      log({ ...delay, occurredAt: startOfTime - 8000, remoteMta: 'mx2.example.net' }),
      returned(),
      log(),
    ],
    { verp: true },
  )
})

test('reports in one batch have the same result as single reports', async (t) => {
  const fixture = await prepared(t)
  const ends = new Set<string>()
  for (const order of ordersOf([log(full), log(), log({ status: '5.0.0', diagnostic: null, smtpCode: null }), byToken({}, 0, signed)])) {
    for (const isBatch of [true, false]) {
      const trace = await messageTo(fixture, 2, false)
      const told = order.map((telling) => telling(trace).told)
      for (const batch of isBatch ? [told] : told.map((one) => [one])) await intakeOf(fixture).feedback.take(signed, batch)
      ends.add(JSON.stringify(await endOf(fixture, trace)))
    }
  }
  t.is(ends.size, 1, [...ends].join('\n'))
  await sound(t, fixture)
})

test('soft bounces on three days suppress; a day with a corrected bounce does not count', async (t) => {
  const fixture = await prepared(t)
  const rcptTo = ['anna@example.net']
  const bounce = async (...changes: Parameters<typeof event>[0][]): Promise<void> => {
    const trace = await sentMessage(fixture, { rcptTo })
    for (const one of changes) await intakeOf(fixture).feedback.take(signed, [event({ ...one, format: 'stalwart', clues: tokenOf(trace) })])
    fixture.clock.step(86_400_000)
  }
  await bounce({ ...vagueText }, blocked)
  await bounce(full)
  await bounce(full, { ...full, diagnostic: '552 5.2.2 a' })
  t.deepEqual(await fixture.database.all(suppressions, { organizationId }), [])
  await bounce(full)
  t.is((await fixture.database.all(suppressions, { organizationId })).length, 1)
  await sound(t, fixture)
})

test('an entry with another cause, or changed or removed by hand, stays as it is', async (t) => {
  const fixture = await prepared(t)
  const { database, core } = fixture
  const { suppressions: lists } = core
  const prose = returned({ isStructured: false })
  const tell = async (trace: Trace, telling: Telling): Promise<void> => {
    const { origin, told } = telling(trace)
    await intakeOf(fixture).feedback.take(origin, [told])
  }
  const entries = async () => (await database.all(suppressions, { organizationId })).map(({ record }) => record)
  const known = await messageTo(fixture, 1, true)
  await tell(known, prose)
  await lists.add(principal, { email: addressOf(known, 0) })
  await tell(known, returned(full))
  t.like(await entries(), [{ email: addressOf(known, 0) }])
  const edited = await messageTo(fixture, 1, true)
  await tell(edited, prose)
  const [, entry] = await entries()
  await lists.update(principal, entry?.id ?? '', { reason: 'gone, says his office' })
  await tell(edited, returned(full))
  t.is((await entries()).length, 2)
  const removed = await messageTo(fixture, 1, true)
  await tell(removed, prose)
  const [, , third] = await entries()
  await lists.remove(principal, third?.id ?? '')
  await tell(removed, returned())
  t.is((await entries()).length, 2, 'stronger evidence of the same bounce does not restore the entry')
  await sound(t, fixture)
})

test('a correction is a separate event that names the earlier one and updates the entry', async (t) => {
  const fixture = await prepared(t)
  const trace = await messageTo(fixture, 1, true)
  for (const telling of [returned(vagueText), returned(), returned()]) {
    const { origin, told } = telling(trace)
    await intakeOf(fixture).feedback.take(origin, [told])
  }
  const rows = await fixture.database.all(webhookDeliveries, { organizationId })
  const bodies = rows.map(({ record }) => JSON.parse(record.body) as { id: string; type: string; data: Record<string, unknown> })
  const bounces = bodies.filter(({ type }) => type === 'bounced')
  t.is(bodies.length, 3)
  const first = bounces.find(({ data }) => data['corrects'] === null)
  const second = bounces.find(({ data }) => data['corrects'] !== null)
  t.like(first, { data: { bounce: { class: 'soft' } } })
  t.like(second, { data: { bounce: { class: 'hard', status: '5.1.1' }, corrects: first?.id } })
  t.like(
    bodies.find(({ type }) => type === 'auto_suppressed'),
    { data: { bounce: { class: 'hard' }, corrects: null } },
  )
  t.is((await fixture.details(trace.id)).filter((line) => line.startsWith('bounced')).length, 1)
})

test('each report mail is stored with its content, and deleted with the trace', async (t) => {
  const fixture = await prepared(t)
  const trace = await messageTo(fixture, 2, false)
  const both = [0, 1].map((at) => byToken({ ...vagueText }, at)(trace).told)
  await intakeOf(fixture).feedback.take({ ...mailed, raw: Buffer.from('vague') }, both)
  await intakeOf(fixture).feedback.take({ ...mailed, raw: Buffer.from('clear') }, [byToken({}, 0)(trace).told])
  const { reports } = await fixture.traces.get(principal, trace.id)
  const mails = await Promise.all(reports.map((one) => fixture.traces.reportMail(principal, trace.id, keptMailId(one))))
  t.deepEqual(Object.fromEntries(reports.map((one, i) => [one.bounce, String(mails[i])])), { hard: 'clear', soft: 'vague' })
  t.is(await readRawReport(fixture.database, organizationId, `${trace.id}/none`), undefined)
  await sound(t, fixture)
  t.true(await removeTrace(fixture.database, organizationId, trace.id, fixture.clock.now()))
  t.deepEqual(await fixture.keys('feedback.raw'), [])
})

test('reports by token may replace the current one only a limited number of times', async (t) => {
  const fixture = await prepared(t)
  const trace = await messageTo(fixture, 2, false)
  const results: (string | undefined)[] = []
  for (let i = 0; i < 20; i++) {
    const told = byToken({ occurredAt: startOfTime - i * 1000, diagnostic: `550 5.1.1 ${i}` })(trace).told
    results.push((await intakeOf(fixture).feedback.take({ ...mailed, raw: Buffer.from(String(i)) }, [told]))[0]?.result)
  }
  t.is(results.filter((result) => result === 'recorded').length, 11)
  // and cannot exclude stronger evidence of others
  const { origin, told } = log({ status: '5.2.2', diagnostic: '552 5.2.2 mailbox full', smtpCode: 552 })(trace)
  t.like((await intakeOf(fixture).feedback.take(origin, [told]))[0], { result: 'recorded', bounce: 'soft' })
  await sound(t, fixture)
})

test('reports without an evidence rank yield to stronger evidence', async (t) => {
  const fixture = await prepared(t)
  const trace = await messageTo(fixture, 1, true)
  const vague = returned(vagueText)(trace)
  await intakeOf(fixture).feedback.take(vague.origin, [vague.told])
  const [stored] = await readReports(fixture.database, organizationId, trace.id)
  const { isStructured: _, maySuppress: __, eventId: ___, ...old } = stored?.record ?? ({} as TraceReport)
  await fixture.put<TraceReport>(traceReports, old)
  const before = await fixture.trace(trace.id)
  await fixture.put<Trace>(traces, { ...before, recipients: before.recipients.map(({ bounce: ____, ...one }) => one) })
  const found = async (bounce: 'soft' | 'hard') => (await fixture.traces.list(principal, { bounce, limit: 10 })).rows.length
  t.deepEqual([await found('soft'), await found('hard')], [1, 0])
  const clear = returned()(trace)
  t.like((await intakeOf(fixture).feedback.take(clear.origin, [clear.told]))[0], { result: 'recorded', bounce: 'hard', suppressed: true })
  t.deepEqual([await found('soft'), await found('hard')], [0, 1])
  await sound(t, fixture)
})
