/** Effects of reports on messages: states, suppressions, duplicates, trust, and reports that arrive early. */
import test from '#test'
import { suppressions } from '#core/feedback/suppression/suppression.ts'
import { removeTrace } from '#core/retention/remove-trace.ts'
import type { Change } from '#store/change.ts'
import { readRawReport } from '#core/trace/timeline/raw-report.ts'
import { keptMailId, readReports } from '#core/trace/trace-report.ts'
import { pack } from '#store/tuple.ts'
import type { Trace } from '#core/trace/trace.ts'
import { webhookDeliveries } from '#core/webhooks/delivery.ts'
import { webhookEndpoints } from '#core/webhooks/endpoint.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { organizationId, type CoreFixture } from '../core-fixture.ts'
import { take } from '../scripted-transport.ts'
import {
  complaint,
  delivered,
  event,
  hook,
  intakeOf,
  mailed,
  noClues,
  sendingFixture,
  suppressingFixture,
  sentMessage,
  signed,
  sound,
  tokenOf,
} from './reports.ts'
import { column, columns } from '../../support/column.ts'

const dayMs = 86_400_000

const listed = async (fixture: CoreFixture): Promise<string[]> =>
  (await fixture.database.all(suppressions, { organizationId })).map(({ record }) => record.email)

test('a bounce makes the message bounced, and its trace gives the reason', async (t) => {
  const fixture = await sendingFixture(t)
  const trace = await sentMessage(fixture)
  const { feedback } = intakeOf(fixture)
  const raw = Buffer.from('the mail itself')
  const [outcome] = await feedback.take({ ...mailed, raw }, [event({ clues: tokenOf(trace) })])
  t.like(outcome, { result: 'recorded', traceId: trace.id, recipient: 'anna@example.net', bounce: 'hard', suppressed: false })
  const after = await fixture.trace(trace.id)
  t.is(after.status, 'bounced')
  t.like(after.recipients[0], { status: 'bounced', report: { type: 'bounced', bounce: 'hard' } })
  const details = await fixture.details(trace.id)
  t.is(details.filter((line) => line.startsWith('sent: ')).length, 1)
  t.regex(details.at(-1) ?? '', /^bounced: Bounced for anna@example\.net: /)
  await sound(t, fixture)
  t.true(await removeTrace(fixture.database, organizationId, trace.id, fixture.clock.now()))
  t.deepEqual(
    (await fixture.keys(trace.id)).filter((key) => !key.includes('feedback.key') && !key.includes('expire')),
    [],
  )
  await sound(t, fixture)
})

test('a bounce reported by two sources and by a second notice counts once', async (t) => {
  const fixture = await sendingFixture(t)
  const trace = await sentMessage(fixture)
  const { feedback } = intakeOf(fixture)
  const clues = tokenOf(trace)
  const results: (string | undefined)[] = []
  for (const [origin, told] of [
    [signed, event({ format: 'stalwart', clues })],
    [mailed, event({ clues })],
    [mailed, event({ clues, diagnostic: '550 5.1.1 really' })],
    [mailed, event({ clues })],
  ] as const) {
    results.push((await feedback.take(origin, [told]))[0]?.result)
  }
  t.deepEqual(results, ['recorded', 'duplicate', 'duplicate', 'duplicate'])
  t.is((await fixture.details(trace.id)).filter((line) => line.startsWith('bounced')).length, 1)
  await sound(t, fixture)
})

test('concurrent reports are each recorded once, despite other writes to the trace', async (t) => {
  const fixture = await sendingFixture(t)
  const rcptTo = Array.from({ length: 20 }, (_, i) => `r${i}@example.net`)
  const trace = await sentMessage(fixture, { rcptTo })
  const { feedback } = intakeOf(fixture)
  const clues = tokenOf(trace)
  const told = rcptTo.flatMap((recipient) => [event({ recipient, clues }), event({ recipient, clues, key: `again ${recipient}` })])
  const outcomes = await Promise.all(told.map((one) => feedback.take(signed, [one])))
  t.is(outcomes.flat().filter(({ result }) => result === 'recorded').length, 20)
  t.true((await fixture.trace(trace.id)).recipients.every(({ status }) => status === 'bounced'))
  await sound(t, fixture)
})

test('a report mail about several recipients is stored once, linked from each report', async (t) => {
  const fixture = await sendingFixture(t)
  const rcptTo = Array.from({ length: 20 }, (_, i) => `r${i}@example.net`)
  const trace = await sentMessage(fixture, { rcptTo })
  const { feedback } = intakeOf(fixture)
  const raw = Buffer.alloc(70_000, 'a bounce for many ')
  await feedback.take(
    { ...mailed, raw },
    rcptTo.map((recipient) => event({ recipient, clues: tokenOf(trace) })),
  )
  t.is((await fixture.keys('feedback.raw')).length, 1)
  const reports = (await readReports(fixture.database, organizationId, trace.id)).map(({ record }) => record)
  t.is(reports.length, 20)
  const [id, ...others] = new Set(reports.map((report) => `${trace.id}/${keptMailId(report)}`))
  t.deepEqual(others, [])
  t.is((await readRawReport(fixture.database, organizationId, id ?? ''))?.length, 65_536)
  await sound(t, fixture)
  await removeTrace(fixture.database, organizationId, trace.id, fixture.clock.now())
  t.deepEqual(await fixture.keys('feedback.raw'), [])
})

test('events: thousands are processed in batches, each once; one change of the caller', async (t) => {
  const fixture = await sendingFixture(t)
  const trace = await sentMessage(fixture)
  const { feedback } = intakeOf(fixture)
  const outsiders = Array.from({ length: 2500 }, (_, i) => delivered({ recipient: `stranger${i}@example.org` }))
  const told = [...outsiders, ...outsiders.slice(0, 100), event({ clues: tokenOf(trace) })]
  const counter = [organizationId, 'counter', 'calls']
  const outcomes = await feedback.take(signed, told, (change) => void change.add(counter, 1))
  const results = Map.groupBy(outcomes, ({ result }) => result)
  t.deepEqual(
    (['unmatched', 'duplicate', 'recorded'] as const).map((result) => results.get(result)?.length),
    [2500, 100, 1],
  )
  t.like(outcomes.at(-1), { result: 'recorded', traceId: trace.id })
  t.is(await fixture.database.kv.counter(pack(counter)), 1)
})

test('delivered stays delivered; a later complaint is recorded and suppresses', async (t) => {
  const fixture = await suppressingFixture(t)
  const trace = await sentMessage(fixture)
  const { feedback } = intakeOf(fixture)
  const outcomes = await feedback.take(signed, [delivered({ clues: tokenOf(trace) }), complaint({ clues: tokenOf(trace) })])
  t.deepEqual(columns(outcomes, 'result', 'suppressed'), [
    ['recorded', false],
    ['recorded', true],
  ])
  t.is((await fixture.trace(trace.id)).status, 'delivered')
  t.deepEqual(
    (await fixture.details(trace.id)).slice(-3).map((line) => line.split(':')[0]),
    ['delivered', 'complained', 'auto_suppressed'],
  )
  t.deepEqual(await listed(fixture), ['anna@example.net'])
  await sound(t, fixture)
})

test('with the flag off no address is suppressed and no annotation made', async (t) => {
  const fixture = await sendingFixture(t)
  const trace = await sentMessage(fixture)
  const { feedback } = intakeOf(fixture)
  const outcomes = await feedback.take(signed, [event({ clues: tokenOf(trace) }), complaint({ clues: tokenOf(trace) })])
  t.deepEqual(column(outcomes, 'suppressed'), [false, false])
  t.deepEqual(await listed(fixture), [])
  t.false((await fixture.details(trace.id)).some((line) => line.startsWith('auto_suppressed')))
})

test('the address of the message is suppressed, not the address it was forwarded to', async (t) => {
  const fixture = await suppressingFixture(t)
  const trace = await sentMessage(fixture)
  const { feedback } = intakeOf(fixture)
  await feedback.take(mailed, [event({ recipient: 'forwarded@elsewhere.example', clues: tokenOf(trace) })])
  t.deepEqual(await listed(fixture), ['anna@example.net'])
})

const soft = { status: '5.2.2', smtpCode: 552, diagnostic: '552 5.2.2 mailbox full' }

test('soft bounces: suppress the address after bounces on three days within thirty', async (t) => {
  const fixture = await suppressingFixture(t)
  const { feedback } = intakeOf(fixture)
  const bounce = async (): Promise<boolean | undefined> => {
    const trace = await sentMessage(fixture)
    return (await feedback.take(signed, [event({ ...soft, clues: tokenOf(trace) })]))[0]?.suppressed
  }
  t.false(await bounce())
  t.false(await bounce())
  fixture.clock.step(dayMs)
  t.false(await bounce())
  fixture.clock.step(29 * dayMs)
  t.false(await bounce(), 'the first day is outside the period')
  fixture.clock.step(-20 * dayMs)
  t.true(await bounce())
  t.deepEqual(await listed(fixture), ['anna@example.net'])
  await sound(t, fixture)
})

test('blocks, delays and other feedback suppress no address', async (t) => {
  const fixture = await suppressingFixture(t)
  const { feedback } = intakeOf(fixture)
  const block = { status: '5.7.1', smtpCode: 554, diagnostic: '554 5.7.1 blocked because of poor reputation' }
  for (const told of [
    event(block),
    event({ ...soft, type: 'deferred', action: 'delayed', status: '4.2.2' }),
    complaint({ feedbackType: 'not-spam' }),
    complaint({ feedbackType: 'auth-failure' }),
  ]) {
    const trace = await sentMessage(fixture)
    const [outcome] = await feedback.take(signed, [{ ...told, clues: { ...told.clues, ...tokenOf(trace) } }])
    t.is(outcome?.result, 'recorded')
  }
  t.deepEqual(await listed(fixture), [])
})

test('a bounce mail with only the Message-ID is recorded as unverified, without effect', async (t) => {
  const fixture = await suppressingFixture(t)
  const trace = await sentMessage(fixture)
  const { feedback } = intakeOf(fixture)
  const clues = { messageIds: [`<${trace.messageId}>`] }
  const [forged] = await feedback.take(mailed, [event({ clues })])
  t.like(forged, { result: 'recorded', isUnverified: true, suppressed: false, traceId: trace.id })
  t.is((await fixture.trace(trace.id)).status, 'sent')
  t.regex((await fixture.details(trace.id)).at(-1) ?? '', /^bounced: Unverified/)
  const [true_] = await feedback.take(signed, [event({ format: 'postfix', clues })])
  t.like(true_, { result: 'recorded', isUnverified: false, suppressed: false })
  t.is((await fixture.trace(trace.id)).status, 'bounced')
  t.deepEqual(await listed(fixture), [])
})

test('a bounce in prose suppresses only with a VERP token and a null sender', async (t) => {
  const fixture = await suppressingFixture(t)
  const { feedback } = intakeOf(fixture)
  const first = await sentMessage(fixture)
  await feedback.take(mailed, [event({ isStructured: false, clues: { messageIds: [`<${first.messageId}>`] } })])
  const second = await sentMessage(fixture)
  await feedback.take({ ...mailed, hasNullSender: false }, [event({ isStructured: false, clues: tokenOf(second) })])
  t.is((await fixture.trace(second.id)).status, 'bounced')
  t.deepEqual(await listed(fixture), [])
  await feedback.take(mailed, [event({ isStructured: false, clues: tokenOf(await sentMessage(fixture)) })])
  t.deepEqual(await listed(fixture), ['anna@example.net'])
})

test('a recipient cannot suppress other recipients of the message by mail', async (t) => {
  const fixture = await suppressingFixture(t)
  const trace = await sentMessage(fixture, { rcptTo: ['anna@example.net', 'ben@example.net'] })
  const { feedback } = intakeOf(fixture)
  await feedback.take(mailed, [event({ recipient: 'ben@example.net', clues: tokenOf(trace) })])
  const { recipients, status } = await fixture.trace(trace.id)
  t.deepEqual([recipients.map((one) => one.status), status], [['sent', 'bounced'], 'bounced'])
  t.deepEqual(await listed(fixture), [])
  // A signed source passes on mail of others.
  const passedOn = [event(), complaint()].map((one) => ({ ...one, recipient: 'ben@example.net', clues: { ...noClues, ...tokenOf(trace) } }))
  await feedback.take(signed, passedOn)
  const second = await sentMessage(fixture, { rcptTo: ['anna@example.net', 'ben@example.net'] })
  await feedback.take(signed, [event({ recipient: 'ben@example.net', clues: tokenOf(second) })])
  t.deepEqual(await listed(fixture), [])
  await feedback.take(signed, [event({ format: 'stalwart', recipient: 'anna@example.net', clues: tokenOf(second) })])
  t.deepEqual(await listed(fixture), ['anna@example.net'])
})

test('the queue id of the next host identifies the message', async (t) => {
  const fixture = await suppressingFixture(t)
  fixture.transport.script = async (call) => {
    const report = await take(call)
    const reply = { code: 250, enhanced: '2.0.0', text: `Message queued with id 3abcde${call.nth}` }
    return { ...report, recipients: report.recipients.map((one) => ({ ...one, reply })) }
  }
  const trace = await sentMessage(fixture)
  const { feedback } = intakeOf(fixture)
  const [wrong] = await feedback.take(signed, [event({ format: 'stalwart', clues: { queueIds: ['3abcde'] } })])
  t.is(wrong?.result, 'unmatched')
  const [right] = await feedback.take(signed, [event({ format: 'stalwart', clues: { queueIds: ['3abcde1'] } })])
  t.like(right, { result: 'recorded', traceId: trace.id, suppressed: true })
})

test('a source of another organization changes nothing, with any identifiers', async (t) => {
  const fixture = await sendingFixture(t)
  const trace = await sentMessage(fixture, verp)
  const { feedback } = intakeOf(fixture)
  const clues = { ...tokenOf(trace), messageIds: [`<${trace.messageId}>`], returnPaths: [returnPathOf(trace)] }
  const [outcome] = await feedback.take({ ...signed, organizationId: 'org_2' }, [event({ format: 'stalwart', clues })])
  t.like(outcome, { result: 'unmatched', traceId: null, recipient: null })
  t.is((await fixture.trace(trace.id)).status, 'sent')
  t.deepEqual(await fixture.keys('org_1\0\x02feedback\0'), [])
})

const verp = { verp: { bounceDomain: null }, rcptTo: ['anna@example.net', 'ben@example.net'] }
const returnPathOf = ({ recipients }: Trace, at = 0): string => recipients[at]?.verp ?? ''

test('the return path decides the recipient, regardless of the report', async (t) => {
  const fixture = await suppressingFixture(t)
  const trace = await sentMessage(fixture, verp)
  const { feedback } = intakeOf(fixture)
  const origin = { organizationId: null, sourceId: null, channel: 'bounce_domain', returnPath: returnPathOf(trace, 1) } as const
  const told = event({ recipient: 'anna@example.net', isStructured: false })
  const [outcome] = await feedback.take(origin, [told])
  t.like(outcome, { result: 'recorded', recipient: 'ben@example.net', suppressed: true })
  t.deepEqual(await listed(fixture), ['ben@example.net'])
  t.is((await feedback.take(origin, [told]))[0]?.result, 'duplicate')
  const [nobody] = await feedback.take({ ...origin, returnPath: 'b0000000000000000000000@bounces.postern.test' }, [told])
  t.is(nobody?.result, 'unmatched')
})

test("the last write contains the caller's change, once, also after a crash", async (t) => {
  const fixture = await sendingFixture(t)
  const clues = [tokenOf(await sentMessage(fixture)), tokenOf(await sentMessage(fixture)), tokenOf(await sentMessage(fixture))]
  const told = clues.map((one) => event({ clues: one }))
  const checkpoint = (change: Change): void => void change.set([organizationId, 'ingest.poll', 'src_2'], Buffer.from('{}'))
  let writes = 0
  const cut = Promise.withResolvers<void>()
  fixture.kv.beforeWrite = () => {
    if (++writes === 3) cut.resolve()
    return writes >= 3 ? new Promise<void>(() => {}) : undefined
  }
  void intakeOf(fixture).feedback.take(mailed, told, checkpoint)
  await cut.promise
  const next = await fixture.crash()
  t.deepEqual(await next.keys('ingest.poll'), [])
  const outcomes = await intakeOf(next).feedback.take(mailed, told, checkpoint)
  t.deepEqual(column(outcomes, 'result'), ['duplicate', 'duplicate', 'recorded'])
  t.is((await next.keys('ingest.poll')).length, 1)
  await sound(t, next)
  const again = await intakeOf(next).feedback.take(mailed, told, checkpoint)
  t.true(again.every(({ result }) => result === 'duplicate'))
})

test('the shared view shows bounces, but neither complaints nor suppressions', async (t) => {
  const fixture = await suppressingFixture(t)
  const { feedback } = intakeOf(fixture)
  const bounced = await sentMessage(fixture)
  const complained = await sentMessage(fixture)
  await feedback.take(signed, [event({ clues: tokenOf(bounced) }), complaint({ clues: tokenOf(complained) })])
  const first = await fixture.traces.shared(bounced.id)
  t.deepEqual([first.status, first.timeline.at(-1)?.event], ['bounced', 'bounced'])
  const second = await fixture.traces.shared(complained.id)
  t.deepEqual([second.status, second.recipients[0]?.status, second.timeline.at(-1)?.event], ['delivered', 'delivered', 'sent'])
  t.notRegex(JSON.stringify([first, second]), /complain|suppress/)
  t.deepEqual([first.recipients[0]?.address, first.replies.at(-1)?.enhanced], ['***@example.net', '5.1.1'])
})

test('webhooks get each outcome once, in the same write', async (t) => {
  const fixture = await suppressingFixture(t)
  await fixture.put(webhookEndpoints, hook)
  const trace = await sentMessage(fixture)
  const { feedback } = intakeOf(fixture)
  const clues = tokenOf(trace)
  const told = [event({ clues }), event({ type: 'deferred', action: 'delayed', status: '4.2.0', clues })]
  await feedback.take(signed, told)
  await feedback.take(mailed, told)
  await feedback.take(mailed, [event({ clues: { messageIds: [`<${trace.messageId}>`] }, diagnostic: 'unverified' })])
  const { rows } = await fixture.database.list(webhookDeliveries, { organizationId }, { limit: 10, ascending: true })
  t.deepEqual(rows.map(({ record }) => record.eventType).toSorted(), ['auto_suppressed', 'bounced'])
  const bodies = rows.map(({ record }) => JSON.parse(record.body) as { data: Record<string, unknown> })
  for (const { data } of bodies)
    t.like(data, { trace_id: trace.id, recipient: 'anna@example.net', status: 'bounced', bounce: { class: 'hard' } })
})

test('webhooks get no event for unverified reports', async (t) => {
  const fixture = await suppressingFixture(t)
  await fixture.put(webhookEndpoints, hook)
  const trace = await sentMessage(fixture)
  const { feedback } = intakeOf(fixture)
  const clues = { messageIds: [`<${trace.messageId}>`] }
  const forged = [event({ clues }), complaint({ clues }), delivered({ clues })]
  const outcomes = await feedback.take(mailed, forged)
  t.deepEqual(
    columns(outcomes, 'result', 'isUnverified'),
    forged.map(() => ['recorded', true]),
  )
  t.deepEqual(await fixture.database.all(webhookDeliveries, { organizationId }), [])
  await feedback.take(signed, [event({ clues: tokenOf(trace) })])
  const told = (await fixture.database.all(webhookDeliveries, { organizationId })).map(({ record }) => record.eventType)
  t.deepEqual(told.toSorted(), ['auto_suppressed', 'bounced'])
})

test('a report with an impossible time still matches its message', async (t) => {
  const fixture = await sendingFixture(t)
  const { feedback } = intakeOf(fixture)
  for (const occurredAt of [0, -1, 0.5, 8.64e15, startOfTime + 0.25, startOfTime - 3_600_000.5]) {
    const trace = await sentMessage(fixture, { facts: { ...facts, messageId: `${Math.abs(occurredAt)}@example.com` } })
    const told = event({ format: 'postfix', occurredAt, clues: { messageIds: [`<${trace.messageId}>`] } })
    t.is((await feedback.take(signed, [told]))[0]?.result, 'recorded', String(occurredAt))
    t.is((await fixture.trace(trace.id)).status, 'bounced')
    t.true((await fixture.details(trace.id)).some((line) => line.startsWith('bounced')))
  }
  await sound(t, fixture)
})

test('a report of the same second comes after the sending in the timeline', async (t) => {
  const fixture = await sendingFixture(t)
  const { feedback } = intakeOf(fixture)
  fixture.clock.advance(700)
  fixture.transport.script = (call) => {
    fixture.clock.advance(200)
    return take(call)
  }
  const trace = await sentMessage(fixture)
  const occurredAt = Math.floor(trace.createdAt / 1000) * 1000
  fixture.clock.advance(5000)
  await feedback.take(mailed, [event({ occurredAt, clues: tokenOf(trace) })])
  const details = (await fixture.details(trace.id)).map((line) => line.split(':', 1)[0] ?? '')
  t.deepEqual(
    details.filter((name) => name !== 'accepted' && name !== 'routed' && name !== 'queued'),
    ['attempt', 'sent', 'bounced'],
  )
})

const facts = { prefix: '', subject: 'hi', headerFrom: '', headerAddresses: [], eightBit: false }
