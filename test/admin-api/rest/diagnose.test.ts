/** Diagnoses at the door: every verdict that needs no delivery, reports that came later, DNS, windows and ids. */
import test from 'ava'
import { destinations } from '#core/routing/destination.ts'
import { afterReport } from '#core/feedback/decide.ts'
import { writeAttempt, type AttemptRecord } from '#core/trace/attempt-record.ts'
import { giveReturnPaths } from '#core/trace/return-paths.ts'
import { engagements } from '#core/trace/engagement.ts'
import { reportId, traceReports, type TraceReport } from '#core/trace/trace-report.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { SecretBox } from '#core/access/secret-box.ts'
import { serviceRef } from '#core/trace/trace-token.ts'
import { ResolveError } from '#core/outbound/resolver.ts'
import { storedTracesCounter } from '#core/tenancy/counters.ts'
import { Change } from '#store/change.ts'
import type { RestClient } from '../../support/rest.ts'
import { addDestination, objectOf, refusal, startRig, type Rig } from './rig.ts'

const plain = { from: 'shop@example.ch', subject: 'Order', text: 'x' }
const secrets = new SecretBox(Buffer.alloc(32, 7))
const hour = 3_600_000

const send = async (rest: RestClient, to: string, changes: object = {}): Promise<string> =>
  String((await rest.must('POST', '/v1/messages', { ...plain, to, ...changes }))['trace_id'])
const missing = (rest: RestClient, recipient: string, time_window?: string) =>
  rest.must(
    'GET',
    `/v1/diagnose/missing?${new URLSearchParams({ recipient, ...(time_window !== undefined && { time_window }) }).toString()}`,
  )
const bounce = (rest: RestClient, message_id: string) =>
  rest.must('GET', `/v1/diagnose/bounce?${new URLSearchParams({ message_id }).toString()}`)

interface Told {
  readonly id: string
  readonly rank: number
  readonly confidence: number
  readonly explanation: string
  readonly next_action: { readonly text: string; readonly tool?: string; readonly arguments?: Readonly<Record<string, string>> }
}
const hypothesesOf = (answer: Readonly<Record<string, unknown>>): Told[] => answer['hypotheses'] as Told[]
const idsOf = (answer: Readonly<Record<string, unknown>>): string[] => hypothesesOf(answer).map(({ id }) => id)

/** Writes what the delivery and later reports would have written. */
async function rewrite({ database, organizationId }: Rig, traceId: string, change: (trace: Trace) => Trace): Promise<void> {
  const stored = await database.get(traces, { organizationId }, traceId)
  if (!stored) throw new Error('no trace')
  await database.commit(new Change().rewrite(traces, organizationId, stored, change(stored.record)))
}

const taken = (rig: Rig, traceId: string): Promise<void> =>
  rewrite(rig, traceId, (trace) => ({
    ...trace,
    ...{ status: 'sent', nextAttemptAt: null },
    recipients: trace.recipients.map((one) => ({
      ...one,
      status: 'sent',
      reply: { code: 250, enhanced: '2.0.0', text: 'Ok: queued as 4bXyZ91Qwz' },
    })),
  }))

async function report(rig: Rig, traceId: string, changes: Partial<TraceReport>): Promise<void> {
  const { database, organizationId, clock } = rig
  const { record } = (await database.get(traces, { organizationId }, traceId)) ?? {}
  if (!record) throw new Error('no trace')
  const recipient = record.recipients[0]?.address ?? ''
  const { type = 'bounced', isUnverified = false } = changes
  const made: TraceReport = {
    ...{ id: reportId(traceId, recipient, type, isUnverified), traceId, projectId: record.projectId, type, isUnverified, recipient },
    ...{ at: clock.now(), occurredAt: null, finalRecipient: null, format: 'dsn', sourceId: null, proof: 'return_path', bounce: 'hard' },
    ...{ category: null, reason: 'It came back.', action: 'failed', status: null, smtpCode: null, diagnostic: null, remoteMta: null },
    ...{ reportingMta: null, feedbackType: null, suppression: null, rawBytes: 0 },
    ...changes,
  }
  await database.commit(new Change().insert(traceReports, organizationId, made))
  await rewrite(rig, traceId, (trace) => afterReport(trace, made))
}

test('mail that was captured names the reason and the one call that changes it', async (t) => {
  const { rest } = await startRig(t)
  const nowhere = await send(rest, 'ada@example.ch')
  const lost = await missing(rest, 'ada@example.ch')
  t.deepEqual([lost['verdict'], lost['confidence'], idsOf(lost)[0]], ['captured', 0.97, 'captured_no_route'])
  t.is(hypothesesOf(lost)[0]?.next_action.tool, 'email_routing_rule_create')
  t.deepEqual(
    (lost['traces'] as { trace_id: string }[]).map(({ trace_id }) => trace_id),
    [nowhere],
  )
  const destination_id = await addDestination(rest)
  await send(rest, 'eva@example.ch', { destination_id })
  const boxed = hypothesesOf(await missing(rest, 'EVA@example.ch'))[0]
  t.is(boxed?.id, 'captured_sandbox_destination')
  t.deepEqual([boxed?.next_action.tool, boxed?.next_action.arguments], ['destination_promote_to_live', { destination_id }])
})

test('a suppressed recipient is named with the entry to remove; so is one that would be', async (t) => {
  const { rest } = await startRig(t)
  const destination_id = await addDestination(rest, {}, true)
  const entry = async (email: string) => String((await rest.must('POST', '/v1/suppressions', { email, reason: 'asked for it' }))['id'])
  const id = await entry('ada@example.ch')
  await send(rest, 'ada@example.ch', { destination_id })
  const lost = await missing(rest, 'ada@example.ch')
  t.is(lost['verdict'], 'suppressed')
  const [first] = hypothesesOf(lost)
  t.regex(first?.explanation ?? '', /manual: asked for it/)
  t.deepEqual([first?.next_action.tool, first?.next_action.arguments], ['email_suppression_remove', { id }])
  await rest.must('DELETE', `/v1/suppressions/${id}`)
  t.regex(hypothesesOf(await missing(rest, 'ada@example.ch'))[0]?.next_action.text ?? '', /gone by now: send the message again/)

  const other = await entry('eva@example.ch')
  const never = await missing(rest, 'eva@example.ch')
  t.is(never['verdict'], 'not_sent')
  t.deepEqual(hypothesesOf(never).find((one) => one.id === 'would_be_suppressed')?.next_action.arguments, { id: other })
})

test('scheduled mail, canceled mail and mail that is queued are told apart', async (t) => {
  const { rest, clock } = await startRig(t)
  const destination_id = await addDestination(rest, {}, true)
  const send_at = new Date(clock.now() + hour).toISOString()
  const id = await send(rest, 'ada@example.ch', { destination_id, send_at })
  const waiting = await missing(rest, 'ada@example.ch')
  t.deepEqual([waiting['verdict'], idsOf(waiting)[0]], ['scheduled', 'scheduled'])
  t.true(String(waiting['summary']).includes(send_at))
  await rest.must('DELETE', `/v1/messages/scheduled/${id}`)
  t.deepEqual(
    [(await missing(rest, 'ada@example.ch'))['verdict'], idsOf(await missing(rest, 'ada@example.ch'))[0]],
    ['not_sent', 'canceled'],
  )
  await send(rest, 'eva@example.ch', { destination_id })
  t.deepEqual(
    [(await missing(rest, 'eva@example.ch'))['verdict'], idsOf(await missing(rest, 'eva@example.ch'))[0]],
    ['in_progress', 'under_way'],
  )
})

test('a destination that rests is the reason, with its test as the next step', async (t) => {
  const { rest, board, organizationId, database } = await startRig(t)
  const destination_id = await addDestination(rest, {}, true)
  await send(rest, 'ada@example.ch', { destination_id })
  const subject = (await database.get(destinations, { organizationId }, destination_id))?.record
  if (!subject) throw new Error('no destination')
  for (let i = 0; i < 5; i++) {
    board.attempting(subject)
    const error = { code: 'connect_refused', message: 'The host refused the connection.', phase: 'connect' }
    board.attempted(organizationId, subject, {
      recipients: [{ address: 'x@y.ch', verdict: 'transient' }],
      host: 'h',
      port: 1,
      reused: false,
      error,
      milliseconds: {},
    })
  }
  const lost = await missing(rest, 'ada@example.ch')
  t.deepEqual([lost['verdict'], idsOf(lost)[0]], ['deferred', 'destination_resting'])
  t.deepEqual(hypothesesOf(lost)[0]?.next_action.arguments, { destination_id })
})

test('nothing sent says so, with the last message before the window', async (t) => {
  const { rest, clock } = await startRig(t)
  await send(rest, 'ada@example.ch')
  const at = new Date(clock.now()).toISOString()
  clock.advance(25 * hour)
  const lost = await missing(rest, 'ada@example.ch')
  t.deepEqual([lost['verdict'], lost['traces']], ['not_sent', []])
  t.true(hypothesesOf(lost)[0]?.explanation.includes(`The last message before was accepted at ${at}`))
  t.is((await missing(rest, 'ada@example.ch', '26h'))['verdict'], 'captured')
  t.is((await missing(rest, 'ada@example.ch', '2d'))['verdict'], 'captured')
  const from = new Date(clock.now() - 26 * hour).toISOString()
  t.deepEqual((await missing(rest, 'ada@example.ch', `${from}/${at}`))['traces'], [], 'the end does not belong to it')
  t.deepEqual((await missing(rest, 'ada@example.ch', `${at}/${new Date(clock.now() + hour).toISOString()}`))['window'], {
    from: at,
    to: new Date(clock.now()).toISOString(),
  })
})

test('addresses that look like the one asked for are named, the nearest first', async (t) => {
  const { rest, clock } = await startRig(t)
  for (const to of ['ada.lovelace@gmial.com', 'ada.lovelase@gmail.com', 'ada.lovelace+shop@gmail.com', 'ada.lovelace@example.org']) {
    clock.advance(1000)
    await send(rest, to)
  }
  const lost = await missing(rest, 'Ada.Lovelace@gmail.com')
  t.is(lost['verdict'], 'not_sent')
  const near = hypothesesOf(lost).filter(({ id }) => id === 'near_miss')
  t.deepEqual(
    near.map(({ next_action }) => next_action.arguments?.['recipient']),
    ['ada.lovelace+shop@gmail.com', 'ada.lovelase@gmail.com', 'ada.lovelace@gmial.com'],
  )
  t.is(hypothesesOf(lost)[0]?.id, 'near_miss')
  t.deepEqual(
    hypothesesOf(lost).map(({ rank }) => rank),
    [1, 2, 3, 4, 5],
  )
  t.deepEqual(lost['not_checked'], [
    { what: 'Requests that were refused', why: 'They leave no trace; look at the answers that your application got.' },
  ])
})

test('a project key is told of its project alone, and that it cannot see the others', async (t) => {
  const { rest, withKey, addProject } = await startRig(t)
  const project = await addProject()
  await send(rest, 'ada.lovelace@gmial.com')
  const id = await send(rest, 'ada.lovelace@gmail.com')
  const bound = await withKey(['api:read'], project)
  const lost = await missing(bound, 'ada.lovelace@gmail.com')
  t.deepEqual(idsOf(lost), ['not_sent', 'domain_takes_no_mail'])
  t.true((lost['not_checked'] as { what: string }[]).some(({ what }) => what === 'Other projects of the organization'))
  t.is((await bounce(bound, id))['found'], false)
  await send(rest, 'ada.lovelace@gmail.com', { project_id: project })
  t.is(((await missing(bound, 'ada.lovelace@gmail.com'))['traces'] as unknown[]).length, 1)
})

test('what retention took is not taken for never sent', async (t) => {
  const { rest, clock, database, organizationId } = await startRig(t, { plan: 'free' })
  const cut = await missing(rest, 'ada@example.ch', '30d')
  t.is((cut['window'] as { from: string }).from, new Date(clock.now() - 7 * 24 * hour).toISOString())
  t.regex(JSON.stringify(cut['not_checked']), /The plan free keeps traces for 7 days/)
  const day = (ago: number) => new Date(clock.now() - ago * 24 * hour).toISOString()
  const gone = await missing(rest, 'ada@example.ch', `${day(20)}/${day(19)}`)
  t.deepEqual([gone['verdict'], idsOf(gone)], ['unknown', ['not_kept']])
  // the oldest go before their time where more are stored than the plan has room for
  await send(rest, 'eva@example.ch')
  const oldest = new Date(clock.now()).toISOString()
  t.notRegex(JSON.stringify((await missing(rest, 'ada@example.ch'))['not_checked']), /The plan free/)
  await database.commit(new Change().add(storedTracesCounter(organizationId), 999))
  clock.advance(hour)
  const full = await missing(rest, 'ada@example.ch')
  t.is((full['window'] as { from: string }).from, oldest)
  t.regex(JSON.stringify(full['not_checked']), /The plan free stores 1000 traces/)
})

test('a domain that takes no mail is told, and DNS that fails is told as not checked', async (t) => {
  const { rest, records } = await startRig(t)
  records.mx.set('null.example', [{ exchange: '', priority: 0 }])
  records.mx.set('good.example', [{ exchange: 'mx.good.example', priority: 10 }])
  t.regex(hypothesesOf(await missing(rest, 'a@null.example')).find(({ id }) => id === 'domain_takes_no_mail')?.explanation ?? '', /null MX/)
  t.regex(
    hypothesesOf(await missing(rest, 'a@gone.example')).find(({ id }) => id === 'domain_takes_no_mail')?.explanation ?? '',
    /neither an MX/,
  )
  t.true(((await missing(rest, 'a@good.example'))['checked'] as string[]).includes('The MX records of good.example name mx.good.example.'))
  const failing = await missing(rest, 'a@broken.example.ch')
  t.false(idsOf(failing).includes('domain_takes_no_mail'))
  t.true((failing['not_checked'] as { what: string }[]).some(({ what }) => what === 'Whether the domain of the recipient takes mail'))
})

test('mail that bounced later is told with the record of the sender to change and its present value', async (t) => {
  const rig = await startRig(t)
  const { rest, records } = rig
  const destination_id = await addDestination(rest, {}, true)
  const id = await send(rest, 'ada@gmail.com', { destination_id })
  await taken(rig, id)
  records.txt.set('example.ch', ['google-site-verification=x', 'v=spf1 -all'])
  records.txt.set('_dmarc.example.ch', new ResolveError('timeout', 'nobody answered'))
  const diagnostic =
    '550-5.7.26 Your email has been blocked: SPF and DMARC did not pass. https://support.google.com/mail/answer/81126 - gsmtp'
  await report(rig, id, {
    status: '5.7.26',
    smtpCode: 550,
    diagnostic,
    remoteMta: 'gmail-smtp-in.l.google.com',
    bounce: 'block',
    rawBytes: 512,
  })
  const seen = await bounce(rest, id)
  t.like(seen, { found: true, stage: 'after_acceptance', source: 'dsn', bounce: 'block', category: 'authentication', provider: 'gmail' })
  t.deepEqual([seen['raw_report_available'], seen['provider_link']], [true, 'https://support.google.com/mail/answer/81126'])
  t.regex(String(seen['plain_reason']), /^The set-up of the sender is at fault, not the address\. Neither SPF nor DKIM passed/)
  const actions = (seen['next_actions'] as string[]).join('\n')
  t.true(actions.includes('The SPF record (TXT at example.ch) is now: v=spf1 -all'), actions)
  t.true(actions.includes('The DMARC record (TXT at _dmarc.example.ch) could not be looked up now.'), actions)
  t.true(actions.includes('The message was not signed here'), actions)
  const lost = await missing(rest, 'ada@gmail.com')
  t.deepEqual([lost['verdict'], hypothesesOf(lost)[0]?.next_action.tool], ['bounced', 'email_diagnose_bounce'])
})

test('every id that somebody may have leads to the message', async (t) => {
  const rig = await startRig(t)
  const { rest, database, organizationId, addOrganization, clock } = rig
  const destination_id = await addDestination(rest, {}, true)
  const id = await send(rest, 'ada@example.ch', { destination_id })
  const stored = await database.get(traces, { organizationId }, id)
  if (!stored) throw new Error('no trace')
  const change = new Change()
  const given = giveReturnPaths(change, secrets, organizationId, stored.record, 'in.example.ch')
  await database.commit(change.rewrite(traces, organizationId, stored, { ...given, messageId: 'Own.Id@cms.example' }))
  await taken(rig, id)
  const verp = given.recipients[0]?.verp ?? ''
  const { rest: stranger } = await addOrganization()
  const all = [id, id.toUpperCase(), serviceRef(secrets, id), verp, `<${verp}>`, '<Own.Id@cms.example>', 'Own.Id@cms.example', '4bXyZ91Qwz']
  for (const messageId of all) {
    t.is((await bounce(rest, messageId))['trace_id'], id, messageId)
    t.is((await bounce(stranger, messageId))['found'], false, messageId)
  }
  for (const messageId of ['other@cms.example', `${id}@example.ch`, 'Ok']) t.is((await bounce(rest, messageId))['found'], false, messageId)
  // an id of our own is not searched, and others are among the latest messages only; with the recipient, all to it are
  clock.advance(hour)
  const narrowed = objectOf(await rest.call('GET', '/v1/diagnose/bounce?message_id=4bXyZ91Qwz&recipient=ADA@example.ch'))
  t.is(narrowed['trace_id'], id)
  t.is(objectOf(await rest.call('GET', '/v1/diagnose/bounce?message_id=4bXyZ91Qwz&recipient=eva@example.ch'))['found'], false)
})

test('a report that nobody vouches for is shown as such', async (t) => {
  const rig = await startRig(t)
  const destination_id = await addDestination(rig.rest, {}, true)
  const id = await send(rig.rest, 'ada@example.ch', { destination_id })
  await taken(rig, id)
  await report(rig, id, { isUnverified: true, status: '5.1.1', proof: 'message_id' })
  const seen = await bounce(rig.rest, id)
  t.regex(String(seen['plain_reason']), /^Nobody vouches for this report, so it changed nothing\./)
  t.deepEqual(
    [seen['bounced_at'], seen['bounce'], seen['category'], (seen['suppress'] as { recommended: boolean }).recommended],
    [null, null, 'recipient_unknown', false],
  )
  t.is((await missing(rig.rest, 'ada@example.ch'))['verdict'], 'accepted_by_remote')
})

test('soft bounces on three days make a suppression advisable; one does not', async (t) => {
  const rig = await startRig(t)
  const destination_id = await addDestination(rig.rest, {}, true)
  let last = ''
  for (const recommended of [false, false, true]) {
    rig.clock.advance(24 * hour)
    last = await send(rig.rest, 'ada@example.ch', { destination_id })
    await taken(rig, last)
    await report(rig, last, { status: '5.2.2', bounce: 'soft' })
    t.is(((await bounce(rig.rest, last))['suppress'] as { recommended: boolean }).recommended, recommended)
  }
  const seen = await bounce(rig.rest, last)
  t.like(seen, { bounce: 'soft', category: 'mailbox_full', retry: { useful: true, when: 'another day' } })
  t.like(
    seen['related'],
    { same_recipient: 2, same_domain_last_24h: 1, same_reply_last_24h: 0 },
    'a reply without words is no reply to compare',
  )
})

test('a delay that is reported later, a complaint and an opening are told', async (t) => {
  const rig = await startRig(t)
  const { rest, database, organizationId, clock } = rig
  const destination_id = await addDestination(rest, {}, true)
  const made = async (to: string) => {
    const id = await send(rest, to, { destination_id })
    await taken(rig, id)
    return id
  }
  await report(rig, await made('slow@example.ch'), { type: 'deferred', status: '4.4.1', bounce: null })
  const slow = await missing(rest, 'slow@example.ch')
  t.deepEqual([slow['verdict'], idsOf(slow)[0]], ['deferred', 'delayed_downstream'])

  const angry = await made('angry@example.ch')
  await report(rig, angry, { type: 'complained', format: 'arf', feedbackType: 'abuse', bounce: null })
  t.deepEqual(idsOf(await missing(rest, 'angry@example.ch')), ['complained', 'domain_takes_no_mail', 'complaints'])
  const seen = await bounce(rest, angry)
  t.like(seen, { bounce: null, category: 'complaint', source: 'arf' })
  t.is((seen['suppress'] as { recommended: boolean }).recommended, true)

  const open = await made('open@example.ch')
  await rewrite(rig, open, (trace) => ({ ...trace, tracking: { clicks: false, links: 0, opens: true } }))
  const { record } = (await database.get(traces, { organizationId }, open)) ?? {}
  const engagement = { id: open, projectId: record?.projectId ?? '', opens: 1, clicks: 0, firstOpens: [clock.now()], firstClicks: [] }
  await database.commit(new Change().insert(engagements, organizationId, engagement))
  t.is(idsOf(await missing(rest, 'open@example.ch'))[0], 'opened')
})

test('a destination whose sign-in fails, and an outcome that nobody knows, are no bounces', async (t) => {
  const rig = await startRig(t)
  const destination_id = await addDestination(rig.rest, {}, true)
  const gaveUp = async (to: string, attempt: Partial<AttemptRecord>, unknownAttempts?: number) => {
    const id = await send(rig.rest, to, { destination_id })
    const at = rig.clock.now()
    const record = {
      number: 1,
      destinationId: destination_id,
      startedAt: at,
      endedAt: at,
      state: 'finished',
      host: 'mail.example.ch',
      ...attempt,
    } as const
    await rig.database.commit(writeAttempt(new Change(), rig.organizationId, id, record))
    await rewrite(rig, id, (trace) => ({
      ...trace,
      ...{ status: 'failed', nextAttemptAt: null, attempts: 1 },
      recipients: trace.recipients.map((one) => ({ ...one, status: 'failed', unknownAttempts })),
    }))
    return id
  }
  const reply = { code: 535, enhanced: '5.7.8', text: 'Authentication failed' }
  const error = {
    code: 'auth_failed',
    message: 'The host refused the sign-in: user name with password or access token. (535)',
    phase: 'auth',
  }
  const id = await gaveUp('ada@example.ch', { error, recipients: [{ address: 'ada@example.ch', verdict: 'transient', reply }] })
  const lost = await missing(rig.rest, 'ada@example.ch')
  t.deepEqual(
    [lost['verdict'], idsOf(lost)[0], hypothesesOf(lost)[0]?.next_action.tool],
    ['not_sent', 'destination_failed', 'email_provider_test'],
  )
  t.regex(hypothesesOf(lost)[0]?.explanation ?? '', /No failover was tried\.$/)
  const seen = await bounce(rig.rest, id)
  t.like(seen, { stage: 'ehlo', source: 'smtp', category: 'auth_client', bounce: 'block', suppress: { recommended: false } })

  await gaveUp('eva@example.ch', { state: 'unknown', recipients: [{ address: 'eva@example.ch', verdict: 'unknown' }] }, 2)
  const unknown = await missing(rig.rest, 'eva@example.ch')
  t.deepEqual([unknown['verdict'], idsOf(unknown)[0]], ['unknown', 'outcome_unknown'])
})

test('what a provider answers over HTTP is judged by its words, as its status is no reply code', async (t) => {
  const rig = await startRig(t)
  const destination_id = await addDestination(rig.rest, {}, true)
  const id = await send(rig.rest, 'ada@example.ch', { destination_id })
  const at = rig.clock.now()
  const reply = { code: 422, text: '{"message":"This address is on our list of unknown recipients: user unknown"}' }
  const record = { number: 1, destinationId: destination_id, startedAt: at, endedAt: at, state: 'finished', provider: 'postmark' } as const
  const recipients = [{ address: 'ada@example.ch', verdict: 'permanent', reply }] as const
  await rig.database.commit(writeAttempt(new Change(), rig.organizationId, id, { ...record, recipients }))
  await rewrite(rig, id, (trace) => ({
    ...trace,
    ...{ status: 'failed', nextAttemptAt: null, attempts: 1 },
    recipients: trace.recipients.map((one) => ({ ...one, status: 'failed', reply })),
  }))
  t.like(await bounce(rig.rest, id), { stage: 'data', category: 'recipient_unknown', bounce: 'hard', reply: { code: 422, enhanced: null } })
})

test('a send budget that is used up is named', async (t) => {
  const { rest } = await startRig(t)
  const project = await rest.must('POST', '/v1/projects', { name: 'Small', send_budget: 1 })
  await send(rest, 'eva@example.ch', { project_id: project['id'] })
  const lost = await missing(rest, 'ada@example.ch')
  t.regex(
    hypothesesOf(lost).find(({ id }) => id === 'budget_used_up')?.explanation ?? '',
    /The project Small has used up its budget of 1 sends/,
  )
})

test('what is no address or no time is refused with its name', async (t) => {
  const { rest } = await startRig(t)
  const ask = async (query: string) => refusal(await rest.call('GET', `/v1/diagnose/${query}`)).slice(0, 2)
  const wrong = [400, 'validation_failed']
  for (const window of [
    '',
    '0h',
    '24',
    '1w',
    '99999d',
    '2026-11-01T00:00:00Z',
    '2026-11-02/2026-11-01',
    '2026-11-02T00:00:00Z/2026-11-01T00:00:00Z',
    '2026-13-01T00:00:00Z/2026-11-01T00:00:00Z',
    'a/b/c',
  ])
    t.deepEqual(await ask(`missing?recipient=a@b.ch&time_window=${encodeURIComponent(window)}`), wrong, window)
  for (const recipient of ['', 'ada', 'a@b.ch,c@d.ch', '<a@b.ch>'])
    t.deepEqual(await ask(`missing?recipient=${encodeURIComponent(recipient)}`), wrong, recipient)
  t.deepEqual(await ask('missing'), wrong)
  t.deepEqual(await ask('bounce'), wrong)
  t.deepEqual(await ask(`bounce?message_id=${'x'.repeat(999)}`), wrong)
})
