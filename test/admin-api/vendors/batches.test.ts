/** Batches, templates, schedules and retries by the official clients of services. */
import test, { type ExecutionContext } from '#test'
import { BrevoClient } from '@getbrevo/brevo'
import { GetMessageInsightsCommand, SendBulkEmailCommand, SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import { EmailParams, MailerSend, Recipient, Sender } from 'mailersend'
import Mailjet from 'node-mailjet'
import { simpleParser } from 'mailparser'
import SparkPost from 'sparkpost'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { adminKey, startDaemon } from '../../support/daemon/start-daemon.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { Sink } from '../../support/smtp/sink.ts'

const from = 'shop@example.ch'
const [ada, bob, eva] = ['ada@example.net', 'bob@example.net', 'eva@example.net']

async function started(t: ExecutionContext) {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const daemon = await startDaemon(t, {
    env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' },
    replacements: { clock: FakeClock.atMachineTime() },
  })
  const { rest, addresses } = daemon
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  await rest.must('POST', '/v1/templates', {
    name: 'Order',
    slug: 'order',
    subject_tmpl: 'Order {{number}}',
    text_tmpl: 'Hi {{name}}, {{number}}',
  })
  const address = `http://${addresses.http}`
  /** Returns the mail at the sink with all its recipients; each message has its own subject. */
  const got = async (subject: string) => {
    const { to, content } = await sink.delivered(({ text }) => text.includes(`\r\nSubject: ${subject}\r\n`))
    const { text = '', headers, replyTo } = await simpleParser(Buffer.from(content))
    return { to: to.toSorted(), text: text.trim(), headers, replyTo: replyTo?.value.map((one) => one.address) }
  }
  const trace = (id: string | undefined) => rest.must('GET', `/v1/traces/${String(id).replace(/^<|@.*$/g, '')}`)
  return { daemon, sink, rest, address, got, trace }
}

test('Brevo: versions inherit copies, have own templates, and share one key', async (t) => {
  const { daemon, rest, address, got, trace } = await started(t)
  const { transactionalEmails: brevo } = new BrevoClient({ apiKey: adminKey, baseUrl: `${address}/v3`, maxRetries: 0 })
  const person = (email: string) => ({ email })
  const given = {
    ...{
      sender: person(from),
      subject: 'Hi {{params.n}}',
      textContent: 'Hi {{ params.n }}!',
      cc: [person('cc@example.net')],
      params: { n: 'all' },
    },
    headers: { 'Idempotency-Key': 'order-1', 'sender.ip': '192.0.2.1' },
    messageVersions: [
      { to: [person(ada)], params: { n: 'Ada' } },
      { to: [person(bob)], cc: [person('own@example.net')], replyTo: person('help@example.ch') },
    ],
  }
  const { messageIds = [] } = await brevo.sendTransacEmail(given)
  t.like(await got('Hi Ada'), { to: [ada, 'cc@example.net'], text: 'Hi Ada!' })
  t.like(await got('Hi all'), { to: [bob, 'own@example.net'], text: 'Hi all!', replyTo: ['help@example.ch'] })
  t.deepEqual((await brevo.sendTransacEmail(given)).messageIds, messageIds)
  t.regex(JSON.stringify((await trace(messageIds[0]))['timeline']), /Brevo[^"]*headers\.sender\.ip/)
  await brevo.sendTransacEmail({
    ...{ sender: person(from), templateId: 'order' as never, params: { number: '4711', name: 'Eva' } },
    ...{ messageVersions: [{ to: [person(eva)] }], htmlContent: '<p>not sent</p>' },
  })
  const ofTemplate = await got('Order 4711')
  t.like(ofTemplate, { to: [eva], text: 'Hi Eva, 4711' })
  const versioned = { to: [person(eva)], templateId: 'none' } as never
  const error = await t.throwsAsync(
    brevo.sendTransacEmail({ sender: person(from), templateId: 'order' as never, messageVersions: [versioned] }),
  )
  t.regex(String((error as unknown as { body: { message: string } }).body.message), /messageVersions\[0\]\.templateId|template/)
  const filtered = brevo.sendTransacEmail({ sender: person(from), to: [person(ada)], subject: 's', textContent: '{{ params.n | upper }}' })
  t.like(await t.throwsAsync(filtered), { statusCode: 400 })

  const scheduledAt = new Date(daemon.clock.now() + 3_600_000).toISOString()
  const { messageId } = await brevo.sendTransacEmail({
    sender: person(from),
    to: [person(ada)],
    subject: 's',
    textContent: 't',
    scheduledAt,
  })
  t.like(await trace(messageId), { status: 'queued', send_at: scheduledAt })
  t.like(await brevo.getScheduledEmailById({ identifier: String(messageId) }), { scheduledAt, status: 'queued' })
  await brevo.deleteScheduledEmailById({ identifier: String(messageId) })
  t.like(await trace(messageId), { status: 'canceled' })
  const [id = ''] = messageIds
  t.like(await t.throwsAsync(brevo.deleteScheduledEmailById({ identifier: id })), { statusCode: 404 })
  const { count, transactionalEmails: [first] = [] } = await brevo.getTransacEmailsList({ messageId: id })
  t.like({ count, ...first }, { count: 2, email: ada, subject: 'Hi Ada', messageId: id, from })
  t.like(await brevo.getTransacEmailContent({ uuid: String(first?.uuid) }), { email: ada, body: 'Hi Ada!', attachmentCount: 0 })
  const { events = [] } = await brevo.getEmailEventReport({ messageId: id, event: 'requests', email: ada })
  t.like(events, [{ email: ada, event: 'requests', messageId: id }])
  t.like(await t.throwsAsync(brevo.getEmailEventReport({ email: ada })), { statusCode: 400 })
  // the budget is counted at acceptance, so the second message is refused after the first was accepted
  const project = String((await trace(messageId))['project_id'])
  const { project_sends_today: sends } = (await rest.must('GET', `/v1/projects/${project}`)) as { project_sends_today: number }
  await rest.must('PATCH', `/v1/projects/${project}`, { send_budget: sends + 1 })
  const partly = await t.throwsAsync(brevo.sendTransacEmail({ ...given, headers: {} }))
  t.like(partly, { statusCode: 402 })
  t.regex(
    String((partly as unknown as { body: { message: string } }).body.message),
    /^1 of 2 messages were accepted, and the others were refused: .*budget/,
  )
})

test('MailerSend: recipients have own values; changes of recipients are refused', async (t) => {
  const { daemon, rest, address, got, trace } = await started(t)
  const client = new MailerSend({ apiKey: adminKey })
  for (const part of [client.email, client.email.schedule, client.email.message]) Object.assign(part, { baseUrl: `${address}/v1` })
  const params = () =>
    new EmailParams()
      .setFrom(new Sender(from))
      .setTo([new Recipient(ada), new Recipient(bob)])
      .setSubject('Hi {{n}}')
      .setText('Hi {{n}}!')
  const data = [ada, bob].map((email) => ({ email, data: { n: email.slice(0, 3) } }))
  await client.email.send(params().setPersonalization(data).setReplyTo(new Recipient('help@example.ch')))
  t.like(await got('Hi ada'), { to: [ada], text: 'Hi ada!', replyTo: ['help@example.ch'] })
  t.like(await got('Hi bob'), { to: [bob], text: 'Hi bob!' })
  const template = new EmailParams()
    .setFrom(new Sender(from))
    .setTo([new Recipient(eva)])
    .setTemplateId('order')
  await client.email.send(template.setPersonalization([{ email: eva, data: { number: '12', name: 'Eva' } }]))
  t.like(await got('Order 12'), { to: [eva], text: 'Hi Eva, 12' })
  t.like(await t.throwsAsync(client.email.send(params().setRcptTo([new Recipient(eva)])).catch(asError)), { statusCode: 422 })
  const at = Math.floor(daemon.clock.now() / 1000) + 3600
  for (const time of [at, String(at), new Date(at * 1000).toISOString()]) {
    const { headers } = await client.email.send(params().setSendAt(time))
    t.is((await trace(String(headers['x-message-id'])))['send_at'], new Date(at * 1000).toISOString())
    await client.email.schedule.delete(String(headers['x-message-id']))
    const { body } = await client.email.schedule.single(String(headers['x-message-id']))
    t.like(body, { data: { status: 'deleted', send_at: new Date(at * 1000).toISOString() } })
  }

  await rest.must('POST', '/v1/suppressions', { email: 'gone@example.net' })
  const one = (to: string) =>
    new EmailParams()
      .setFrom(new Sender(from))
      .setTo([new Recipient(to)])
      .setSubject(`To ${to}`)
      .setText('Hi!')
  const bulk = await client.email.sendBulk([one(ada), one('bob@@example.net'), one('gone@example.net')])
  t.is(bulk.statusCode, 202)
  t.like(await got(`To ${ada}`), { to: [ada] })
  const { body: report } = await client.email.getBulkStatus(String(bulk.body['bulk_email_id']))
  const { data: done } = report as { data: { messages_id: string[]; validation_errors: Record<string, string[]> } }
  t.like(done, { state: 'completed', total_recipients_count: 2, suppressed_recipients_count: 1, validation_errors_count: 1 })
  t.regex(String(done.validation_errors['message.1']), /\[1\]\.to\[0\]/)
  t.like(await trace(done.messages_id[0]), { to: [ada] })
  const { body: message } = await client.email.message.single(String(done.messages_id[0]))
  t.like((message as { data: { emails: object[] } }).data.emails, [{ subject: `To ${ada}`, text: 'Hi!', recipient: { email: ada } }])
  t.like(await t.throwsAsync(client.email.getBulkStatus('none').catch(asError)), { statusCode: 404 })
})

/** Their client rejects with plain objects. */
const asError = (given: unknown): never => {
  throw Object.assign(new Error('refused'), given)
}

test('SparkPost: an invalid recipient does not affect the others', async (t) => {
  const { daemon, address, got, trace } = await started(t)
  const sparkpost = new SparkPost(adminKey, { origin: address })
  const { transmissions } = sparkpost
  const content = {
    from: { email: from, name: 'Shop of {{n}}' },
    subject: 'Hi {{n}}',
    text: 'Hi {{n}}!',
    headers: { 'X-N': '{{n}}' },
    reply_to: '{{n}}@example.ch',
  }
  const recipients = [{ address: ada, substitution_data: { n: 'ada' } }, { address: 'bob@@example.net' }, { address: eva }]
  const { results } = await transmissions.send({ recipients, content, substitution_data: { n: 'you' } })
  t.like(results, { total_accepted_recipients: 2, total_rejected_recipients: 1 })
  t.regex(JSON.stringify(results), /rcpt_to_errors.*recipients\[1\]\.address/)
  const mail = await got('Hi ada')
  t.like(mail, { to: [ada], text: 'Hi ada!', replyTo: ['ada@example.ch'] })
  t.is(mail.headers.get('x-n'), 'ada')
  t.like(await got('Hi you'), { to: [eva], replyTo: ['you@example.ch'] })
  t.like(await trace(results.id), { to: [ada] })
  // newer than the types of the client
  const { events } = sparkpost as unknown as { events: { searchMessage(query: object): Promise<{ results: object[] }> } }
  const asked = transmissions
  const found = await events.searchMessage({ transmissions: results.id, events: 'injection' })
  t.like(found.results, [{ type: 'injection', rcpt_to: ada, transmission_id: results.id, subject: 'Hi ada' }])
  t.like(await asked.get(results.id), { results: { transmission: { id: results.id, state: 'Success' } } })
  t.like(await t.throwsAsync(asked.get('none')), { statusCode: 404 })
  const literal = {
    recipients: [{ address: ada }],
    content: { from, subject: 'As {{it}} is', text: '{{x}}' },
    options: { perform_substitutions: false },
  }
  await transmissions.send(literal as never)
  t.like(await got('As {{it}} is'), { text: '{{x}}' })
  const none = transmissions.send({ recipients: [{ address: 'x' }, { address: 'y' }], content: { from, subject: 's', text: 't' } })
  t.like(await t.throwsAsync(none), { statusCode: 422 })
  const styled = transmissions.send({
    recipients: [{ address: ada }],
    content: { from, subject: 's', html: 't' },
    options: { inline_css: true },
  })
  t.like(await t.throwsAsync(styled), { statusCode: 422 })
  const start = new Date(daemon.clock.now() + 3_600_000).toISOString()
  const later = await transmissions.send({
    recipients: [{ address: ada }],
    content: { from, subject: 's', text: 't' },
    options: { start_time: start },
  })
  t.like(await trace(later.results.id), { send_at: start })
})

test('Mailjet: invalid messages get errors, others are sent, and templates work', async (t) => {
  const { daemon, address, got, trace } = await started(t)
  const client = new Mailjet.Client({ apiKey: adminKey, apiSecret: adminKey, config: { host: new URL(address).host } })
  const post = async (body: object) => {
    const request = client.post('send', { version: 'v3.1' })
    Object.assign(request.constructor, { protocol: 'http://' })
    return (await request.request(body as never)).body as unknown as {
      Messages: { Status: string; To?: { MessageUUID: string }[]; Errors?: { ErrorRelatedTo: string[] }[] }[]
    }
  }
  const person = (Email: string) => ({ Email })
  const { Messages } = await post({
    Globals: { From: person(from), ReplyTo: person('help@example.ch'), TemplateLanguage: true },
    Messages: [
      { To: [person(ada)], Subject: 'Hi {{var:n}}', TextPart: 'Hi {{var:n:"you"}}!', Variables: { n: 'Ada' } },
      { To: [person('bob@@example.net')], Subject: 's', TextPart: 't' },
      { To: [person(eva)], TemplateID: 'order', Variables: { number: '33', name: 'Eva' } },
      { To: [person(eva)], Subject: 's', TextPart: '{% if var:n %}x{% endif %}' },
    ],
  })
  t.deepEqual(
    Messages.map(({ Status, Errors }) => [Status, Errors?.[0]?.ErrorRelatedTo]),
    [
      ['success', undefined],
      ['error', ['Messages[1].To[0].email']],
      ['success', undefined],
      ['error', ['Messages[3].TextPart']],
    ],
  )
  t.like(await got('Hi Ada'), { to: [ada], text: 'Hi Ada!', replyTo: ['help@example.ch'] })
  const uuid = String(Messages[0]?.To?.[0]?.MessageUUID)
  await got('Hi Ada')
  await daemon.settled()
  t.like(await trace(uuid), { status: 'sent' })
  for (const [name, first] of [
    ['message', { UUID: uuid, ContactAlt: ada, Subject: 'Hi Ada' }],
    ['messagehistory', { EventType: 'sent' }],
  ] as const) {
    const { body } = await client.get(name, { version: 'v3' }).id(uuid).request()
    t.like(body, { Count: 1, Data: [first] })
  }
  t.like(await got('Order 33'), { to: [eva], text: 'Hi Eva, 33' })
  const twice = post({ Messages: [{ From: person(from), To: [person(ada)], Subject: 's', TextPart: 't', DeduplicateCampaign: true }] })
  t.like(await t.throwsAsync(twice), { statusCode: 400 })
})

test('Amazon SES: entries have own values and headers; a retried request sends once', async (t) => {
  const { address, got, trace } = await started(t)
  const settings = { endpoint: address, region: 'eu-central-1', credentials: { accessKeyId: adminKey, secretAccessKey: adminKey } }
  const client = new SESv2Client(settings)
  const entry = (to: string, data: object, headers?: { Name: string; Value: string }[]) => ({
    Destination: { ToAddresses: [to] },
    ReplacementEmailContent: { ReplacementTemplate: { ReplacementTemplateData: JSON.stringify(data) } },
    ...(headers && { ReplacementHeaders: headers }),
  })
  const { BulkEmailEntryResults: results = [] } = await client.send(
    new SendBulkEmailCommand({
      ...{ FromEmailAddress: from, ReplyToAddresses: ['help@example.ch', 'Sales <sales@example.ch>'] },
      DefaultContent: {
        Template: { TemplateName: 'order', TemplateData: '{"number":"1","name":"you"}', Headers: [{ Name: 'X-Order', Value: 'all' }] },
      },
      BulkEmailEntries: [
        entry(ada, { number: '71' }, [{ Name: 'x-order', Value: 'own' }]),
        entry('bob@@example.net', {}),
        entry(eva, { number: '73', name: 'Eva' }),
      ],
    }),
  )
  t.deepEqual(
    results.map(({ Status }) => Status),
    ['SUCCESS', 'INVALID_PARAMETER_VALUE', 'SUCCESS'],
  )
  t.regex(results[1]?.Error ?? '', /BulkEmailEntries\[1\]\.Destination\.ToAddresses\[0\]/)
  const mail = await got('Order 71')
  t.like(mail, { to: [ada], text: 'Hi you, 71', replyTo: ['help@example.ch', 'sales@example.ch'] })
  t.is(mail.headers.get('x-order'), 'own')
  t.like(await got('Order 73'), { to: [eva], text: 'Hi Eva, 73' })
  t.like(await trace(results[2]?.MessageId), { to: [eva] })
  const insights = await client.send(new GetMessageInsightsCommand({ MessageId: results[2]?.MessageId }))
  t.like(insights, { MessageId: results[2]?.MessageId, Subject: 'Order 73', FromEmailAddress: from })
  t.like(insights.Insights, [{ Destination: eva, Events: [{ Type: 'SEND' }] }])
  t.true(insights.Insights?.[0]?.Events?.[0]?.Timestamp instanceof Date)
  await t.throwsAsync(client.send(new GetMessageInsightsCommand({ MessageId: 'none' })), { name: 'NotFoundException' })

  const TemplateContent = { Subject: 'Inline {{n}}', Html: '<p>{{n}} {{{n}}}</p>' }
  const inline = {
    FromEmailAddress: from,
    Destination: { ToAddresses: [ada] },
    Content: { Template: { TemplateContent, TemplateData: '{"n":"a"}' } },
  }
  await client.send(new SendEmailCommand(inline))
  t.like(await got('Inline a'), { to: [ada] })
  for (const TemplateData of ['[]', '"x"', '{'])
    await t.throwsAsync(client.send(new SendEmailCommand({ ...inline, Content: { Template: { TemplateContent, TemplateData } } })), {
      message: /TemplateData/,
    })

  // the client retries a request without a response with the same id
  const once = async () => {
    const command = new SendEmailCommand({ ...inline, Content: { Simple: { Subject: { Data: 'Once' }, Body: { Text: { Data: 't' } } } } })
    const add = (next: (args: never) => Promise<unknown>) => async (args: { request: { headers: Record<string, string> } }) => {
      args.request.headers['amz-sdk-invocation-id'] = 'the-same'
      return next(args as never)
    }
    command.middlewareStack.addRelativeTo(add as never, { relation: 'before', toMiddleware: 'httpSigningMiddleware' })
    return (await client.send(command)).MessageId
  }
  t.is(await once(), await once())
})
