/** Notifications of submissions: recipients, time, content, and exactly one mail each. */
import test from '#test'
import { findings } from '#core/findings/finding.ts'
import { createHmac } from 'node:crypto'
import { formDayRows } from '#core/forms/analytics/form-counts.ts'
import { addNotice } from '#core/forms/notifications/notice-rows.ts'
import { trailRows } from '#core/forms/notifications/notice-trail.ts'
import { formNotifications } from '#core/forms/notifications/notification.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { webhookDeliveries } from '#core/webhooks/delivery.ts'
import { Change } from '#store/change.ts'
import { readContent } from '#store/content.ts'
import { within as keysWithin } from '#store/tuple.ts'
import { WebhookReceiver } from '../../../support/web/webhook-receiver.ts'
import { waiting } from '../../../support/waits.ts'
import { errorOf, refusal } from '../fixture/rest-fixture.ts'
import { formFixture, type FormFixture } from './visitor.ts'
import { assertSound } from '../../../support/problems.ts'

type Row = Readonly<Record<string, unknown>>

const from = 'Forms <forms@example.ch>'
const team = 'team@example.ch'
const outsider = 'outsider@example.net'
const good = { email: 'ada@example.ch', message: 'Hello.' }

interface Mail {
  readonly trace: Trace
  readonly to: string
  readonly raw: string
}

/** Every mail of an organization, the oldest first, once nothing is in progress. */
async function mails({ daemon, database, organizationId }: FormFixture, of = organizationId): Promise<readonly Mail[]> {
  await daemon.settled()
  const all: Mail[] = []
  for (const { record: trace } of await database.all(traces, { organizationId: of })) {
    const pieces: Uint8Array[] = []
    for await (const piece of readContent(database, of, trace.content)) pieces.push(piece)
    const [header = '', ...bodies] = (trace.prefix + Buffer.concat(pieces).toString()).split('\r\n\r\n')
    const raw = [`${header}\r`, ...bodies.map((body) => body.replaceAll('=\r\n', ''))].join('\r\n')
    all.push({ trace, to: trace.recipients.map(({ address }) => address).join(' '), raw })
  }
  return all.toSorted((a, b) => a.trace.createdAt - b.trace.createdAt)
}

/** Advances the clock and runs all work that became due. */
async function pass({ clock, daemon }: FormFixture, ms: number): Promise<void> {
  for (const step of [ms, 1000]) {
    clock.advance(step)
    await daemon.settled()
  }
}

const put = ({ rest, path }: FormFixture, body: Row) => rest.call('PUT', `${path}/notifications`, { from, ...body })

/** Creates a form that mails its submissions to a member. */
async function notifying(t: Parameters<typeof formFixture>[0], body: Row = {}, changes: Row = {}): Promise<FormFixture> {
  const fixture = await formFixture(t, changes, { hasMail: true })
  await fixture.addMember(team, 'developer')
  const answer = await put(fixture, { recipients: [{ email: 'Team@Example.ch' }], reply_to_field: 'email', ...body })
  t.is(answer.status, 200, answer.bytes.toString())
  return fixture
}

test('a member gets each submission once, with visible answers and Reply-To of the visitor', async (t) => {
  const fields = [
    { key: 'email', type: 'email', label: 'Email', required: true },
    { key: 'message', type: 'textarea', label: 'Message' },
    { key: 'pin', type: 'text', label: 'PIN', email_mask: true },
    { key: 'hidden_one', type: 'text', label: 'Secret detail' },
  ]
  const rules = [{ id: 'r1', when: { field: 'message', op: 'eq', value: 'more' }, then: [{ action: 'show', target: 'hidden_one' }] }]
  const fixture = await notifying(
    t,
    { subject_tmpl: '{{.form.name}}: {{.fields.message}} {{.fields.pin}}' },
    { schema: { version: 1, fields }, logic: { version: 1, rules } },
  )
  const { rest, path, form, send } = fixture
  t.like(await rest.must('GET', `${path}/notifications`), {
    ...{ form_id: form, recipients: [{ email: team, when: null, digest: 'instant', status: 'member' }], problem: null },
    ...{ from, reply_to_field: 'email', include_answers: true, webhook_url: null },
  })
  const { body } = await send({ ...good, pin: 'my pin', hidden_one: 'not shown' })
  const [mail, ...others] = await mails(fixture)
  t.deepEqual(others, [])
  t.like(mail, { to: team, trace: { door: 'form_notification', submittedBy: form, headerFrom: 'forms@example.ch' } })
  const raw = mail?.raw ?? ''
  t.regex(raw, /^Subject: Contact: Hello\. /m)
  t.regex(raw, /^Reply-To: ada@example\.ch\r$/m)
  t.regex(raw, /^Auto-Submitted: auto-generated\r$/m)
  t.regex(raw, /Email: ada@example\.ch/)
  t.true(raw.includes(`Reference ${String((body as Row)['reference'])} =C2=B7 ${String((body as Row)['id'])}`))
  t.false(raw.includes('my pin'), 'no part of the mail shows a masked value')
  t.false(raw.includes('not shown'), 'no part of the mail shows a field that the visitor did not see')
  t.like(await rest.must('GET', '/v1/traces'), { data: [{ door: 'form_notification', to: [team] }] })
  await pass(fixture, 3_600_000)
  t.is((await mails(fixture)).length, 1)
  t.deepEqual(
    (await mails(fixture)).filter(({ to }) => to.includes('ada@')),
    [],
    'the visitor gets no mail',
  )
})

test('spam marked as not spam notifies once and keeps its spam reasons', async (t) => {
  const fixture = await notifying(t, { webhook_url: 'https://mail.example.ch/hook' })
  const { rest, path, send, token, database, organizationId } = fixture
  const { body } = await send(good, { _mnx_ft: await token(100) })
  const one = `${path}/submissions/${String((body as Row)['id'])}`
  const setStatus = (status: string) => rest.must('PATCH', one, { status })
  await setStatus('archived')
  await setStatus('spam')
  t.deepEqual(await mails(fixture), [])
  t.like(await setStatus('read'), { status: 'read', spam_reasons: ['too_fast'] })
  await fixture.daemon.settled()
  t.like(await setStatus('spam'), { status: 'spam', spam_reasons: ['too_fast'] })
  await rest.must('POST', `${path}/submissions/bulk`, { action: 'not_spam', ids: [String((body as Row)['id'])] })
  t.like(await rest.must('GET', one), { status: 'new', spam_reasons: ['too_fast'] })
  await pass(fixture, 60_000)
  t.is((await mails(fixture)).length, 1)
  t.is((await database.all(webhookDeliveries, { organizationId })).length, 1)
  const { data } = await rest.must('GET', `${one}/notifications`)
  t.is((data as Row[]).length, 2)
})

test('a submission sends no mail to its visitor, with any form and any recipients', async (t) => {
  const visitor = 'visitor@example.net'
  const fixture = await formFixture(t, {}, { hasMail: true })
  const { rest, clock, addMember } = fixture
  await addMember(team, 'developer')
  const recipients = ['instant', 'hourly', 'daily'].map((digest, i) => ({ email: i === 0 ? team : `d${i}@example.ch`, digest }))
  for (const { email } of recipients.slice(1)) await addMember(email, 'developer')
  const answers = {
    email: visitor,
    name: visitor,
    message: visitor,
    comment: visitor,
    guests: 1,
    score: 5,
    position: visitor,
    letter: visitor,
  }
  for (const template of ['contact', 'support', 'feedback', 'rsvp', 'application', 'newsletter-optin']) {
    const { id, public_id } = await rest.must('POST', '/v1/forms', { name: template, template })
    await rest.must('PUT', `/v1/forms/${String(id)}/notifications`, { from, recipients, subject_tmpl: '{{.fields.email}}' })
    await rest.must('POST', `/v1/forms/${String(id)}/publish`)
    const open = `/v1/public/forms/${String(public_id)}`
    const { schema } = (await rest.must('GET', open)) as unknown as { schema: { fields: readonly Row[] } }
    const choices = schema.fields.map(({ key, options }) => [key, (options as Row[] | undefined)?.[0]?.['value'] ?? true])
    const kinds = new Map(schema.fields.map(({ key, type }) => [key, type]))
    const chosen = choices.filter(([key]) => /^(?:select|radio|checkbox|consent)$/.test(String(kinds.get(key))))
    for (const waitMs of [5000, 100]) {
      const { fill_time_token: _mnx_ft } = await rest.must('GET', open)
      clock.advance(waitMs)
      const data = { ...answers, ...(Object.fromEntries(chosen) as Row) }
      const sent = await rest.call('POST', `${open}/submissions`, { data, _mnx_ft })
      t.is(sent.status, 201, `${template}: ${sent.bytes.toString()}`)
    }
  }
  await pass(fixture, 3_600_000)
  await pass(fixture, 86_400_000)
  const all = [...(await mails(fixture)), ...(await mails(fixture, systemOrganizationId))]
  t.deepEqual([...new Set(all.map(({ to }) => to))].toSorted(), recipients.map(({ email }) => email).toSorted())
})

test('spam sends no mail, conditions select recipients, and answers can be omitted', async (t) => {
  const recipients = [{ email: team, when: { field: 'topics', op: 'contains', value: 'a' } }, { email: 'bea@example.ch' }]
  const fixture = await formFixture(t, {}, { hasMail: true })
  const { addMember, send, token } = fixture
  for (const email of [team, 'bea@example.ch']) await addMember(email, 'developer')
  t.is((await put(fixture, { recipients, include_answers: false })).status, 200)
  await send(good, { _mnx_hp: 'filled' })
  await send(good, { _mnx_ft: await token(500) })
  t.deepEqual(await mails(fixture), [])
  await send({ ...good, topics: ['b'] })
  t.deepEqual(
    (await mails(fixture)).map(({ to }) => to),
    ['bea@example.ch'],
  )
  await send({ ...good, topics: ['a', 'b'] })
  const all = await mails(fixture)
  t.deepEqual(all.map(({ to }) => to).toSorted(), ['bea@example.ch', 'bea@example.ch', team])
  t.false(all.some(({ raw }) => raw.includes('Hello.')))
})

test('an external recipient confirms through a link and can unsubscribe in every mail', async (t) => {
  const fixture = await formFixture(t, {}, { hasMail: true })
  const { rest, path, send, address } = fixture
  t.like((await put(fixture, { recipients: [{ email: outsider }] })).body, { recipients: [{ email: outsider, status: 'unconfirmed' }] })
  await send(good)
  t.deepEqual(await mails(fixture), [])
  const asked = await mails(fixture, systemOrganizationId)
  t.deepEqual(
    asked.map(({ to }) => to),
    [outsider],
  )
  const linkIn = (raw = ''): string => /\/form-notifications\/[\w.-]+/.exec(raw)?.[0] ?? ''
  const link = linkIn(asked[0]?.raw)
  const visit = (where: string, method = 'GET', origin = 'https://post.example.ch') =>
    fetch(`http://${address}${where}`, {
      method,
      redirect: 'manual',
      headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
    })
  const shown = await visit(link)
  t.is(shown.status, 200)
  t.regex(await shown.text(), /Send me the submissions/)
  t.like(await rest.must('GET', `${path}/notifications`), { recipients: [{ status: 'unconfirmed' }] }, 'viewing the page changes nothing')
  t.is((await visit(`${link}/confirm`, 'POST', 'https://evil.example')).status, 403)
  const altered = link.slice(0, -3) + (link.at(-3) === 'x' ? 'y' : 'x') + link.slice(-2)
  t.is((await visit(`${altered}/confirm`, 'POST')).status, 404)
  t.is((await visit(`${link}/confirm`, 'POST')).status, 303)
  t.like(await rest.must('GET', `${path}/notifications`), { recipients: [{ status: 'confirmed' }] })
  await send(good)
  const [mail] = await mails(fixture)
  t.is(mail?.to, outsider)
  t.true(mail?.raw.includes(link))
  t.is((await visit(`${link}/end`, 'POST')).status, 200)
  t.like(await rest.must('GET', `${path}/notifications`), { recipients: [] })
  await send(good)
  t.is((await mails(fixture)).length, 1)
  t.is((await visit(link)).status, 404)
  await put(fixture, { recipients: [outsider, 'other@example.org'].map((email) => ({ email })) })
  const [[page, , mac] = [], [, id] = []] = (await mails(fixture, systemOrganizationId)).slice(-2).map(({ raw }) => linkIn(raw).split('.'))
  t.is((await visit([page, id, mac].join('.'))).status, 404, 'the link of another recipient')
})

test('confirmation mails are limited for each address by day, and need mail of the service', async (t) => {
  const fixture = await formFixture(t, {}, { hasMail: true })
  const set = async (...emails: readonly string[]): Promise<number> =>
    (await put(fixture, { recipients: emails.map((email) => ({ email })) })).status
  for (let times = 1; times <= 3; times++) {
    t.is(await set(outsider), 200)
    t.is(await set(), 200)
  }
  t.is(await set(outsider), 429)
  t.is(await set(outsider, 'other@example.net'), 429)
  t.is((await mails(fixture, systemOrganizationId)).length, 3)
  const without = await formFixture(t)
  t.is(errorOf(await put(without, { recipients: [{ email: outsider }] })).code, 'conflict')
  t.like(await without.rest.must('GET', `${without.path}/notifications`), { recipients: [] })
})

test('digests are mailed hourly and in the morning, one for all new submissions', async (t) => {
  const fixture = await notifying(t, {
    recipients: [
      { email: team, digest: 'hourly' },
      { email: 'bea@example.ch', digest: 'daily' },
    ],
  })
  const { addMember, send, rest, path, daemon, database, organizationId } = fixture
  await addMember('bea@example.ch', 'developer')
  const { body } = await send(good)
  await send({ ...good, message: 'Second.' })
  t.deepEqual(await mails(fixture), [])
  const trail = async (): Promise<unknown> =>
    ((await rest.must('GET', `${path}/submissions/${String((body as Row)['id'])}/notifications`))['data'] as Row[]).map(({ to }) => to)
  t.deepEqual(await trail(), [])
  await pass(fixture, 3_600_000)
  const [hourly, ...more] = await mails(fixture)
  t.deepEqual(more, [])
  t.is(hourly?.to, team)
  t.regex(hourly?.raw ?? '', /^Subject: 2 new submissions: Contact\r$/m)
  t.regex(hourly?.raw ?? '', /Hello\.[\s\S]*Second\./)
  await pass(fixture, 5 * 3_600_000)
  t.deepEqual(
    (await mails(fixture)).map(({ to }) => to),
    [team, 'bea@example.ch'],
  )
  t.deepEqual(await trail(), [team, 'bea@example.ch'])
  const rows = async (): Promise<number> => (await Array.fromAsync(database.kv.range(keysWithin([organizationId, trailRows])))).length
  t.is(await rows(), 4)
  await rest.must('DELETE', `${path}/submissions/${String((body as Row)['id'])}`)
  t.is(await rows(), 2)
  await rest.must('DELETE', `${path}?confirm=Contact`)
  await daemon.settled()
  t.is(await rows(), 0, 'the row is deleted with the submission, and with the form')
  await pass(fixture, 24 * 3_600_000)
  t.is((await mails(fixture)).length, 2)
})

test('invalid settings are refused with the path of each field', async (t) => {
  const fixture = await notifying(t)
  const paths = async (body: Row): Promise<unknown> => {
    const answer = await put(fixture, body)
    return ((errorOf(answer).details?.['fields'] ?? []) as { path: string }[]).map(({ path }) => path)
  }
  t.deepEqual(await paths({ recipients: [{ email: team }, { email: 'TEAM@example.ch' }] }), ['recipients[1].email'])
  t.deepEqual(await paths({ recipients: [{ email: team, when: { field: 'nothing', op: 'eq', value: 'x' } }] }), [
    'recipients[0].when.field',
  ])
  t.deepEqual(await paths({ reply_to_field: 'message' }), ['reply_to_field'])
  t.deepEqual(await paths({ subject_tmpl: '{{.form.name' }), ['subject_tmpl'])
  t.deepEqual(await paths({ webhook_url: 'http://example.com/' }), ['webhook_url'])
  t.like(await fixture.rest.must('GET', `${fixture.path}/notifications`), { recipients: [{ email: team }] })
})

test('a refused mail is retried, and the settings show the reason until it succeeds', async (t) => {
  const fixture = await notifying(t)
  const { rest, path, send } = fixture
  const before = { recipients: [{ email: team }], from: null }
  await put(fixture, before)
  await send(good)
  t.deepEqual(await mails(fixture), [])
  t.regex(String(((await rest.must('GET', `${path}/notifications`))['problem'] as Row)['message']), /^from: is required/)
  const finding = async () => (await fixture.database.all(findings, { organizationId: fixture.organizationId }))[0]?.record
  t.like(await finding(), { kind: 'form.notification_failing', state: 'open', params: { by: 'mail' } })
  await put(fixture, { recipients: [{ email: team }] })
  await pass(fixture, 61_000)
  t.is((await mails(fixture)).length, 1)
  t.is((await rest.must('GET', `${path}/notifications`))['problem'], null)
  t.is((await finding())?.state, 'over')
})

test('only the webhook of a form gets its submissions, signed, with recorded attempts', async (t) => {
  await using receiver = await new WebhookReceiver().listen()
  await using others = await new WebhookReceiver().listen()
  const fixture = await formFixture(t)
  const { rest, path, form, send, daemon } = fixture
  await rest.must('POST', '/v1/webhooks', { name: 'All', target_url: others.url })
  const made = (await put(fixture, { webhook_url: receiver.url })).body as Row
  t.regex(String(made['webhook_secret']), /^whsec_/)
  t.false('webhook_secret' in ((await put(fixture, { webhook_url: receiver.url, subject_tmpl: 'x' })).body as Row))
  await send(good, { _mnx_hp: 'filled' })
  const { body } = await send(good)
  const [got] = await waiting('the event arrives', receiver.hasReceived(1))
  t.like(JSON.parse(got?.body ?? ''), {
    type: 'form_submission',
    data: { form_id: form, form_name: 'Contact', submission_id: (body as Row)['id'], version: 1, answers: good },
  })
  const signed = (secret: unknown, text = ''): string => `sha256=${createHmac('sha256', String(secret)).update(text).digest('hex')}`
  t.is(got?.headers['x-service-signature'], signed(made['webhook_secret'], got?.body))
  await daemon.settled()
  t.like(await rest.must('GET', `/v1/webhooks/attempts?endpoint_id=${form}`), {
    data: [{ event_type: 'form_submission', status: 'succeeded', trace_id: null }],
  })
  const went = (await rest.must('GET', `${path}/submissions/${String((body as Row)['id'])}/notifications`))['data'] as Row[]
  t.like(went, [{ kind: 'webhook', to: null, trace_id: null }])
  t.like(await rest.must('GET', `/v1/webhooks/attempts/${String(went[0]?.['attempt_id'])}`), { endpoint_id: form, status: 'succeeded' })
  t.is(others.connections, 0)
  await rest.must('POST', `/v1/webhooks/attempts/${String(went[0]?.['attempt_id'])}/redeliver`)
  const [, again] = await waiting('it is delivered again', receiver.hasReceived(2))
  t.deepEqual([again?.body, again?.headers['x-service-signature']], [got?.body, got?.headers['x-service-signature']])
  await daemon.settled()
  const rotated = await rest.must('POST', `${path}/notifications/rotate-secret`)
  t.not(rotated['webhook_secret'], made['webhook_secret'])
  await send(good)
  const [, , second] = await waiting('the next one arrives', receiver.hasReceived(3))
  t.is(second?.headers['x-service-signature'], signed(rotated['webhook_secret'], second?.body))
  t.is((await put(fixture, { webhook_url: null })).status, 200)
  await send(good)
  await daemon.settled()
  t.is(receiver.received.length, 3)
  t.is(refusal(await rest.call('POST', `${path}/notifications/rotate-secret`))[1], 'conflict')
})

test('a crash between a submission and its mail loses neither and sends one mail', async (t) => {
  const fixture = await notifying(t)
  const { daemon, send, organizationId, form, clock } = fixture
  const { body } = await send(good)
  await daemon.crash()
  const next = await daemon.again()
  const sent = async (): Promise<number> => {
    await next.settled()
    const all = await next.part('database').all(traces, { organizationId })
    return all.filter(({ record }) => record.door === 'form_notification').length
  }
  t.is(await sent(), 1)
  const notice = { dueMs: clock.now(), organizationId, formId: form, submissionId: String((body as Row)['id']), recipientId: '', tries: 0 }
  await next.part('database').commit(addNotice(new Change(), notice))
  t.is(await sent(), 1, 'like a crash between the acceptance of the mail and the removal of its row')
  const trail = keysWithin([organizationId, trailRows, form])
  t.is((await Array.fromAsync(next.part('database').kv.range(trail))).length, 1, 'the submission has one mail')
  await assertSound(t, { database: next.part('database') })
})

test('deleting a form deletes its notifications, its webhook and its figures', async (t) => {
  await using receiver = await new WebhookReceiver({ answer: (response) => response.writeHead(500).end() }).listen()
  const fixture = await notifying(t, { recipients: [{ email: team, digest: 'daily' }], webhook_url: receiver.url })
  const { rest, path, send, daemon, database, organizationId, form } = fixture
  await send(good)
  await waiting('the event is on its way', receiver.hasReceived(1))
  await daemon.settled()
  await assertSound(t, { database })
  const rowsOf = async (): Promise<readonly number[]> => {
    const days = await Array.fromAsync(database.kv.range(keysWithin([organizationId, formDayRows, form])))
    const settings = await database.all(formNotifications, { organizationId })
    const deliveries = await database.all(webhookDeliveries, { organizationId })
    return [days.length, settings.length, deliveries.length]
  }
  t.deepEqual(await rowsOf(), [1, 1, 1])
  await rest.must('DELETE', `${path}?confirm=Contact`)
  await daemon.settled()
  t.deepEqual(await rowsOf(), [0, 0, 0])
  await pass(fixture, 25 * 3_600_000)
  t.deepEqual(await mails(fixture), [], 'a pending digest is not mailed')
  await assertSound(t, { database })
})
