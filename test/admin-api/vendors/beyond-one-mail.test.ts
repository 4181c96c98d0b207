/** The clients of SendGrid, Postmark and Mailgun: batches, variables, schedules, look-ups and limits. */
import test, { type ExecutionContext } from '#test'
import sendgridMail from '@sendgrid/mail'
import { simpleParser, type ParsedMail } from 'mailparser'
import Mailgun from 'mailgun.js'
import { Errors, Models, ServerClient } from 'postmark'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { adminKey, startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { Sink } from '../../support/smtp/sink.ts'

const from = 'shop@example.ch'
const hour = 3_600_000

interface Started {
  readonly daemon: StartedDaemon
  readonly sink: Sink
  readonly address: string
  /** Returns the mail that arrived for the recipient. */
  readonly arrived: (to: string) => Promise<ParsedMail & { readonly envelope: readonly string[] }>
  /** Exhausts the daily budget of the project. */
  readonly spend: () => Promise<void>
}

async function started(t: ExecutionContext): Promise<Started> {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const daemon = await startDaemon(t, {
    env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' },
  })
  const { rest, addresses } = daemon
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  await rest.must('POST', '/v1/templates', { slug: 'hello', name: 'Hello', subject_tmpl: 'Hello {{name}}', text_tmpl: 'Dear {{name}}' })
  return {
    ...{ daemon, sink, address: `http://${addresses.http}` },
    async arrived(to) {
      const delivery = await sink.delivered((one) => one.to.includes(to))
      return { ...(await simpleParser(Buffer.from(delivery.content))), envelope: delivery.to }
    },
    async spend() {
      const [{ id } = { id: '' }] = (await rest.must('GET', '/v1/projects'))['data'] as { id: string }[]
      await rest.must('PATCH', `/v1/projects/${id}`, { send_budget: 1 })
    },
  }
}

const errorOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => undefined,
    (error: unknown) => error,
  )

test('SendGrid: each personalization is a message with its own values and time', async (t) => {
  const { address, arrived, daemon, sink, spend } = await started(t)
  sendgridMail.setApiKey(adminKey)
  const { client } = sendgridMail as unknown as { client: { setDefaultRequest(name: string, value: string): void } }
  client.setDefaultRequest('baseUrl', address)
  await sendgridMail.send({
    ...{ from, templateId: 'd-hello', replyToList: [{ email: 'a@example.ch' }, { email: 'b@example.ch' }] },
    personalizations: [
      { to: 'ada@example.net', dynamicTemplateData: { name: 'Ada' } },
      { to: 'bob@example.net', cc: 'cy@example.net', dynamicTemplateData: { name: 'Bob' }, subject: 'For Bob' },
    ],
    content: [{ type: 'text/plain', value: ' ' }],
  })
  const [{ trace_id: templated }] = (await daemon.rest.must('GET', '/v1/traces?q=bob%40example.net'))['data'] as [{ trace_id: string }]
  const told = JSON.stringify((await daemon.rest.must('GET', `/v1/traces/${templated}`))['timeline'])
  t.regex(told, /these fields have no effect here: content, personalizations\[1\]\.subject/)
  const [ada, bob] = [await arrived('ada@example.net'), await arrived('bob@example.net')]
  t.deepEqual([ada.subject, ada.text?.trim(), ada.envelope], ['Hello Ada', 'Dear Ada', ['ada@example.net']])
  t.deepEqual([bob.subject, bob.text?.trim(), bob.envelope], ['Hello Bob', 'Dear Bob', ['bob@example.net', 'cy@example.net']])
  t.deepEqual(
    ada.replyTo?.value.map((one) => one.address),
    ['a@example.ch', 'b@example.ch'],
  )
  await sendgridMail.sendMultiple({
    ...{ from, subject: 'Hi -name-', text: 'Hi -name-!' },
    to: ['eva@example.net', 'zoe@example.net'],
    substitutions: { name: 'you' },
    substitutionWrappers: ['-', '-'],
  })
  t.is((await arrived('eva@example.net')).subject, 'Hi you')
  t.deepEqual((await arrived('zoe@example.net')).envelope, ['zoe@example.net'])
  const sendAt = Math.floor((daemon.clock.now() + hour) / 1000)
  const [{ headers }] = await sendgridMail.send({
    from,
    to: 'late@example.net',
    subject: 'Later',
    text: 'Later',
    sendAt,
    batchId: 'batch-1',
  })
  const trace = await daemon.rest.must('GET', `/v1/traces/${String((headers as Record<string, string>)['x-message-id'])}`)
  t.like(trace, { status: 'queued', send_at: new Date(sendAt * 1000).toISOString() })
  t.regex(JSON.stringify(trace['timeline']), /these fields have no effect here: batch_id/)
  const one = {
    personalizations: [{ to: [{ email: 'ada@example.net' }] }],
    from: { email: from },
    subject: 'Hi',
    content: [{ type: 'text/plain', value: 'Hi' }],
  }
  for (const [path, change] of Object.entries({
    'content[1].type': { content: [one.content[0], { type: 'text/plain', value: 'Ho' }] },
    'content[0].value': { content: [{ type: 'text/html', value: '<a href="<%asm_group_unsubscribe_raw_url%>">leave</a>' }] },
    reply_to_list: { reply_to: { email: from }, reply_to_list: [{ email: 'a@example.ch' }] },
    'mail_settings.bcc': { mail_settings: { bcc: { enable: true, email: 'bea@example.net' } } },
    'tracking_settings.open_tracking.substitution_tag': {
      tracking_settings: { open_tracking: { enable: true, substitution_tag: '%open%' } },
    },
    'personalizations[0].substitutions': {
      content: [{ type: 'text/plain', value: 'a'.repeat(262_000) }],
      personalizations: [{ ...one.personalizations[0], substitutions: { [`${'a'.repeat(46)}!`]: 'x' } }],
    },
  })) {
    const { status, body } = await daemon.rest.call('POST', '/v3/mail/send', { ...one, ...change })
    t.deepEqual([status, (body as { errors: { field: string }[] } | undefined)?.errors[0]?.field], [400, path])
  }
  await spend()
  const refused = await errorOf(sendgridMail.send({ from, to: 'ada@example.net', subject: 'Hi', text: 'Hi' }))
  t.like(refused, { code: 429 })
  t.is(sink.deliveries.length, 4)
})

test('Postmark: batches return results, templates use models, messages have details', async (t) => {
  const { address, arrived, spend } = await started(t)
  const client = new ServerClient(adminKey, { requestHost: new URL(address).host, useHttps: false })
  const mail = { From: from, To: 'ada@example.net', Subject: 'Hi', TextBody: 'Hi', ReplyTo: 'a@example.ch, "B, b" <b@example.ch>' }
  const results = await client.sendEmailBatch([mail, { ...mail, To: 'bob@@example.net' }, { ...mail, To: 'eva@example.net' }])
  t.deepEqual(
    results.map(({ ErrorCode }) => ErrorCode),
    [0, 300, 0],
  )
  t.regex(results[1]?.Message ?? '', /^To/)
  t.deepEqual(
    (await arrived('eva@example.net')).replyTo?.value.map((one) => one.address),
    ['a@example.ch', 'b@example.ch'],
  )
  const templated = await client.sendEmailBatchWithTemplates([
    { From: from, To: 'tina@example.net', TemplateAlias: 'hello', TemplateModel: { name: 'Tina' } },
    { From: from, To: 'none@example.net', TemplateAlias: 'missing', TemplateModel: {} },
  ])
  t.deepEqual(
    templated.map(({ ErrorCode }) => ErrorCode === 0),
    [true, false],
  )
  t.is((await arrived('tina@example.net')).subject, 'Hello Tina')
  const { MessageID } = await client.sendEmail({
    ...{
      From: 'Shop <shop@example.ch>',
      To: '"Noor, N." <noor@example.net>',
      Cc: 'cy@example.net',
      Bcc: 'bea@example.net',
      Subject: 'Grüezi',
    },
    ...{ HtmlBody: '<p>Hi</p>', TextBody: 'Hi', Tag: 'order', Metadata: { number: '4711' }, MessageStream: 'outbound' },
    Attachments: [new Models.Attachment('a.txt', 'aGk=', 'text/plain')],
  })
  await arrived('noor@example.net')
  const found = await client.getOutboundMessageDetails(MessageID)
  t.like(found, {
    ...{
      MessageID,
      From: 'Shop <shop@example.ch>',
      Subject: 'Grüezi',
      Tag: 'order',
      TextBody: 'Hi',
      TrackOpens: false,
      Sandboxed: false,
    },
    ...{
      To: [{ Email: 'noor@example.net', Name: 'Noor, N.' }],
      Cc: [{ Email: 'cy@example.net', Name: '' }],
      Bcc: [{ Email: 'bea@example.net', Name: '' }],
    },
    ...{ Metadata: { number: '4711' }, Attachments: ['a.txt'], Recipients: ['noor@example.net', 'cy@example.net', 'bea@example.net'] },
  })
  t.regex((await client.getOutboundMessageDump(MessageID)).Body, /^To: "Noor, N\." <noor@example\.net>/m)
  t.true((await errorOf(client.getOutboundMessageDetails('b8d370d5-0000-4000-8000-000000000000'))) instanceof Errors.PostmarkError)
  const marker = await errorOf(client.sendEmail({ ...mail, HtmlBody: '<a href="{{{ pm:unsubscribe }}}">leave</a>' }))
  t.true(marker instanceof Errors.ApiInputError)
  await spend()
  t.true((await errorOf(client.sendEmail(mail))) instanceof Errors.RateLimitExceededError)
})

test('Mailgun: with variables each recipient gets a separate message with its events', async (t) => {
  const { address, arrived, daemon, spend } = await started(t)
  const client = new Mailgun(FormData).client({ username: 'api', key: adminKey, url: address })
  const create = (changes: object) =>
    client.messages.create('example.ch', { from, to: ['ada@example.net'], subject: 'Hi', text: 'Hi', ...changes })
  await create({
    ...{ to: ['ada@example.net', 'Bob <bob@example.net>'], subject: 'Hi %recipient.name%', text: 'For %recipient%: %recipient.name%' },
    ...{ 'recipient-variables': JSON.stringify({ 'ada@example.net': { name: 'Ada' }, 'bob@example.net': { name: 'Bob' } }) },
    ...{ 'h:X-For': '%recipient.name%', 'h:Reply-To': 'a@example.ch, b@example.ch' },
  })
  const [ada, bob] = [await arrived('ada@example.net'), await arrived('bob@example.net')]
  t.deepEqual([ada.subject, ada.text?.trim(), ada.envelope], ['Hi Ada', 'For ada@example.net: Ada', ['ada@example.net']])
  t.deepEqual([bob.subject, bob.headers.get('x-for'), [bob.to].flat()[0]?.text], ['Hi Bob', 'Bob', '"Bob" <bob@example.net>'])
  t.deepEqual(
    ada.replyTo?.value.map((one) => one.address),
    ['a@example.ch', 'b@example.ch'],
  )
  await create({
    ...{
      to: ['eva@example.net', 'zoe@example.net'],
      subject: '',
      text: undefined,
      template: 'hello',
      't:variables': '{"name":"%recipient.name%"}',
    },
    'recipient-variables': JSON.stringify({ 'eva@example.net': { name: 'E"va' } }),
  })
  t.is((await arrived('eva@example.net')).subject, 'Hello E"va')
  t.deepEqual((await arrived('zoe@example.net')).envelope, ['zoe@example.net'])
  await create({
    to: ['tina@example.net'],
    subject: '',
    text: undefined,
    template: 'hello',
    't:variables': JSON.stringify({ name: 'Tina' }),
  })
  t.is((await arrived('tina@example.net')).text?.trim(), 'Dear Tina')
  await create({ to: ['noor@example.net'], subject: '', text: undefined, template: 'hello', 'v:name': 'Noor' })
  t.is((await arrived('noor@example.net')).text?.trim(), 'Dear Noor')
  const later = await create({ to: ['late@example.net'], 'o:deliverytime': new Date(daemon.clock.now() + hour).toUTCString() })
  const { items } = await client.events.get('example.ch', { 'message-id': String(later.id).slice(1, -1), ascending: 'yes' })
  t.like(items, { length: 1, 0: { event: 'accepted', recipient: 'late@example.net', 'recipient-domain': 'example.net' } })
  const kept = await daemon.rest.must('GET', `/v3/domains/example.ch/messages/${items[0]?.storage.key ?? ''}`)
  t.like(kept, { 'body-plain': 'Hi', subject: 'Hi', recipients: 'late@example.net' })
  const form = new FormData()
  for (const [name, value] of Object.entries({ from, to: 'cal@example.net', subject: 'Hi', text: 'Hi' })) form.append(name, value)
  form.append('attachment', new Blob(['BEGIN:VCALENDAR'], { type: 'text/calendar' }), 'invite.bin')
  const authorization = `Basic ${Buffer.from(`api:${adminKey}`).toString('base64')}`
  t.is((await fetch(`${address}/v3/example.ch/messages`, { method: 'POST', headers: { authorization }, body: form })).status, 200)
  t.is((await arrived('cal@example.net')).attachments[0]?.contentType, 'text/calendar')
  for (const [path, change] of Object.entries({
    text: { text: 'Leave: %unsubscribe_url%' },
    't:version': { template: 'hello', text: undefined, 't:version': 'summer' },
    subject: { subject: ['One', 'Two'] },
    'h:X-Leave': { 'h:X-Leave': '<%tag_unsubscribe_email%>' },
    'h:Sender': { 'h:Sender': 'other@example.ch' },
  })) {
    const error = (await errorOf(create(change))) as { status: number; details: string }
    t.is(error.status, 400)
    t.true(error.details.startsWith(`${path}: `), error.details)
  }
  t.like(await errorOf(client.events.get('example.ch', { 'message-id': 'b8d370d5-0000-4000-8000-000000000000@x' })), { status: 404 })
  await spend()
  t.like(await errorOf(create({})), { status: 429 })
  t.is((await daemon.rest.call('GET', '/v3/example.ch/events')).status, 400)
})

test('Mailgun: a newsletter of Ghost is sent unchanged', async (t) => {
  const { address, arrived, daemon } = await started(t)
  const client = new Mailgun(FormData).client({ username: 'api', key: adminKey, url: address })
  const member = { list_unsubscribe: 'https://example.ch/leave?uuid=1', name: 'Mia' }
  const newsletter = await client.messages.create('example.ch', {
    subject: 'Hi',
    ...{ from: 'Shop <shop@example.ch>', to: ['mia@example.net'], 'h:Reply-To': from, 'h:Sender': 'Shop <shop@example.ch>' },
    ...{
      text: 'Hey %recipient.name%',
      html: '<p>Hey %recipient.name%</p>',
      'recipient-variables': JSON.stringify({ 'mia@example.net': member }),
    },
    ...{ 'h:Auto-Submitted': 'auto-generated', 'h:X-Auto-Response-Suppress': 'OOF, AutoReply' },
    ...{ 'h:List-Unsubscribe': '<%recipient.list_unsubscribe%>, <%tag_unsubscribe_email%>' },
    ...{ 'h:List-Unsubscribe-Post': 'List-Unsubscribe=One-Click', 'v:email-id': '4711', 'o:tag': ['bulk-email', 'ghost-email'] },
    ...{ 'o:tracking-opens': true },
  })
  const mia = await arrived('mia@example.net')
  t.deepEqual([mia.text?.trim(), mia.headers.get('auto-submitted'), mia.headers.has('sender')], ['Hey Mia', 'auto-generated', false])
  const head = new Map(mia.headerLines.map(({ key, line }) => [key, line]))
  t.is(head.get('list-unsubscribe'), 'List-Unsubscribe: <https://example.ch/leave?uuid=1>')
  const sent = await daemon.rest.must('GET', `/v1/traces/${String(newsletter.id).replace(/^<|@.*$/g, '')}`)
  t.like(sent, { tags: ['bulk-email', 'ghost-email'], metadata: { 'email-id': '4711' } })
  t.regex(JSON.stringify(sent['timeline']), /these fields have no effect here: h:Sender, h:List-Unsubscribe/)
})
