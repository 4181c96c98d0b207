/** Bounce diagnosis over REST: later reports, failed attempts, and every id that leads to a message. */
import test from '#test'
import { writeAttempt, type AttemptRecord } from '#core/trace/attempt-record.ts'
import { giveReturnPaths } from '#core/trace/return-paths.ts'
import { traces } from '#core/trace/trace.ts'
import { serviceRef } from '#core/trace/trace-token.ts'
import { ResolveError } from '#core/outbound/resolver.ts'
import { Change } from '#store/change.ts'
import { addDestination, objectOf, startFixture } from '../fixture/rest-fixture.ts'
import { secrets, hour, send, missing, bounce, hypothesesOf, idsOf, rewrite, taken, report } from '../fixture/diagnosed.ts'

test('diagnosis: a later bounce names the DNS record to change and its current value', async (t) => {
  const fixture = await startFixture(t)
  const { rest, records } = fixture
  const destination_id = await addDestination(rest, {}, true)
  const id = await send(rest, 'ada@gmail.com', { destination_id })
  await taken(fixture, id)
  records.txt.set('example.ch', ['google-site-verification=x', 'v=spf1 -all'])
  records.txt.set('_dmarc.example.ch', new ResolveError('timeout', 'no answer from the resolver'))
  const diagnostic =
    '550-5.7.26 Your email has been blocked: SPF and DMARC did not pass. https://support.google.com/mail/answer/81126 - gsmtp'
  await report(fixture, id, {
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
  t.regex(String(seen['plain_reason']), /^The cause is the configuration of the sender, not the address\. Neither SPF nor DKIM passed/)
  const actions = (seen['next_actions'] as string[]).join('\n')
  t.true(actions.includes('The SPF record (TXT at example.ch) is now: v=spf1 -all'), actions)
  t.true(actions.includes('The DMARC record (TXT at _dmarc.example.ch) could not be looked up now.'), actions)
  t.true(actions.includes('The message was not signed with DKIM'), actions)
  const lost = await missing(rest, 'ada@gmail.com')
  t.deepEqual([lost['verdict'], hypothesesOf(lost)[0]?.next_action.tool], ['bounced', 'email_diagnose_bounce'])
})

test('diagnosis: each kind of id leads to the message', async (t) => {
  const fixture = await startFixture(t)
  const { rest, database, organizationId, addOrganization, clock } = fixture
  const destination_id = await addDestination(rest, {}, true)
  const id = await send(rest, 'ada@example.ch', { destination_id })
  const stored = await database.get(traces, { organizationId }, id)
  if (!stored) throw new Error('no trace')
  const change = new Change()
  const given = giveReturnPaths(change, secrets, organizationId, stored.record, 'in.example.ch')
  await database.commit(change.rewrite(traces, organizationId, stored, { ...given, messageId: 'Own.Id@cms.example' }))
  await taken(fixture, id)
  const verp = given.recipients[0]?.verp ?? ''
  const { rest: outsider } = await addOrganization()
  const all = [id, id.toUpperCase(), serviceRef(secrets, id), verp, `<${verp}>`, '<Own.Id@cms.example>', 'Own.Id@cms.example', '4bXyZ91Qwz']
  for (const messageId of all) {
    t.is((await bounce(rest, messageId))['trace_id'], id, messageId)
    t.is((await bounce(outsider, messageId))['found'], false, messageId)
  }
  for (const messageId of ['other@cms.example', `${id}@example.ch`, 'Ok']) t.is((await bounce(rest, messageId))['found'], false, messageId)
  // Ids of Postern are looked up directly. Foreign ids are searched only in the latest messages, or with a recipient in all messages to it.
  clock.advance(hour)
  const narrowed = objectOf(await rest.call('GET', '/v1/diagnose/bounce?message_id=4bXyZ91Qwz&recipient=ADA@example.ch'))
  t.is(narrowed['trace_id'], id)
  t.is(objectOf(await rest.call('GET', '/v1/diagnose/bounce?message_id=4bXyZ91Qwz&recipient=eva@example.ch'))['found'], false)
})

test('diagnosis: an unverified report appears as unverified', async (t) => {
  const fixture = await startFixture(t)
  const destination_id = await addDestination(fixture.rest, {}, true)
  const id = await send(fixture.rest, 'ada@example.ch', { destination_id })
  await taken(fixture, id)
  await report(fixture, id, { isUnverified: true, status: '5.1.1', proof: 'message_id' })
  const seen = await bounce(fixture.rest, id)
  t.regex(String(seen['plain_reason']), /^The report is unverified and had no effect\./)
  t.deepEqual(
    [seen['bounced_at'], seen['bounce'], seen['category'], (seen['suppress'] as { recommended: boolean }).recommended],
    [null, null, 'recipient_unknown', false],
  )
  t.is((await missing(fixture.rest, 'ada@example.ch'))['verdict'], 'accepted_by_remote')
})

test('diagnosis: soft bounces on three days suggest a suppression; one does not', async (t) => {
  const fixture = await startFixture(t)
  const destination_id = await addDestination(fixture.rest, {}, true)
  let last = ''
  for (const recommended of [false, false, true]) {
    fixture.clock.advance(24 * hour)
    last = await send(fixture.rest, 'ada@example.ch', { destination_id })
    await taken(fixture, last)
    await report(fixture, last, { status: '5.2.2', bounce: 'soft' })
    t.is(((await bounce(fixture.rest, last))['suppress'] as { recommended: boolean }).recommended, recommended)
  }
  const seen = await bounce(fixture.rest, last)
  t.like(seen, { bounce: 'soft', category: 'mailbox_full', retry: { useful: true, when: 'on another day' } })
  t.like(seen['related'], { same_recipient: 2, same_domain_last_24h: 1, same_reply_last_24h: 0 }, 'a reply without text cannot be compared')
})

test('diagnosis: a failed sign-in of a destination and an unknown outcome are not bounces', async (t) => {
  const fixture = await startFixture(t)
  const destination_id = await addDestination(fixture.rest, {}, true)
  const gaveUp = async (to: string, attempt: Partial<AttemptRecord>, unknownAttempts?: number) => {
    const id = await send(fixture.rest, to, { destination_id })
    const at = fixture.clock.now()
    const record = {
      number: 1,
      destinationId: destination_id,
      startedAt: at,
      endedAt: at,
      state: 'finished',
      host: 'mail.example.ch',
      ...attempt,
    } as const
    await fixture.database.commit(writeAttempt(new Change(), fixture.organizationId, id, record))
    await rewrite(fixture, id, (trace) => ({
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
  const lost = await missing(fixture.rest, 'ada@example.ch')
  t.deepEqual(
    [lost['verdict'], idsOf(lost)[0], hypothesesOf(lost)[0]?.next_action.tool],
    ['not_sent', 'destination_failed', 'email_provider_test'],
  )
  t.regex(hypothesesOf(lost)[0]?.explanation ?? '', /No failover was tried\.$/)
  const seen = await bounce(fixture.rest, id)
  t.like(seen, { stage: 'ehlo', source: 'smtp', category: 'auth_client', bounce: 'block', suppress: { recommended: false } })

  await gaveUp('eva@example.ch', { state: 'unknown', recipients: [{ address: 'eva@example.ch', verdict: 'unknown' }] }, 2)
  const unknown = await missing(fixture.rest, 'eva@example.ch')
  t.deepEqual([unknown['verdict'], idsOf(unknown)[0]], ['unknown', 'outcome_unknown'])
})

test('diagnosis: HTTP errors of a provider are classified by their text', async (t) => {
  const fixture = await startFixture(t)
  const destination_id = await addDestination(fixture.rest, {}, true)
  const id = await send(fixture.rest, 'ada@example.ch', { destination_id })
  const at = fixture.clock.now()
  const reply = { code: 422, text: '{"message":"This address is on our list of unknown recipients: user unknown"}' }
  const record = { number: 1, destinationId: destination_id, startedAt: at, endedAt: at, state: 'finished', provider: 'postmark' } as const
  const recipients = [{ address: 'ada@example.ch', verdict: 'permanent', reply }] as const
  await fixture.database.commit(writeAttempt(new Change(), fixture.organizationId, id, { ...record, recipients }))
  await rewrite(fixture, id, (trace) => ({
    ...trace,
    ...{ status: 'failed', nextAttemptAt: null, attempts: 1 },
    recipients: trace.recipients.map((one) => ({ ...one, status: 'failed', reply })),
  }))
  t.like(await bounce(fixture.rest, id), {
    stage: 'data',
    category: 'recipient_unknown',
    bounce: 'hard',
    reply: { code: 422, enhanced: null },
  })
})
