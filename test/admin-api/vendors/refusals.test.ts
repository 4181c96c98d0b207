/** The official clients convert our refusals to their own error classes, with a message that says the next step. */
import test from '#test'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { adminKey, startDaemon } from '../../support/daemon/start-daemon.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { clients } from './clients.ts'
import { mailOf } from './mail.ts'
import { ada, from, one, paths, type Body } from './marked-requests.ts'

/** Returns the status and the message of an error, by client. */
const read: Readonly<Record<string, (error: never) => readonly [status: unknown, sentence: unknown]>> = {
  resend: ({ statusCode, message }: { statusCode: number; message: string }) => [statusCode, message],
  sendgrid: ({ code, response }: { code: number; response: { body: { errors: { message: string }[] } } }) => [
    code,
    response.body.errors[0]?.message,
  ],
  postmark: ({ statusCode, message }: { statusCode: number; message: string }) => [statusCode, message],
  mailgun: ({ status, details }: { status: number; details: string }) => [status, details],
  brevo: ({ statusCode, body }: { statusCode: number; body: { message: string } }) => [statusCode, body.message],
  mailersend: ({ statusCode, body }: { statusCode: number; body: { message: string } }) => [statusCode, body.message],
  sparkpost: ({ statusCode, errors }: { statusCode: number; errors: { message: string }[] }) => [statusCode, errors[0]?.message],
  mailjet: ({
    statusCode,
    ErrorMessage,
    response,
  }: {
    statusCode: number
    ErrorMessage: string
    response: { data: { Messages?: { Errors: { ErrorMessage: string }[] }[] } }
  }) => [statusCode, response.data.Messages?.[0]?.Errors[0]?.ErrorMessage ?? ErrorMessage],
  ses: ({ $metadata, message }: { $metadata: { httpStatusCode: number }; message: string }) => [$metadata.httpStatusCode, message],
}

/** Errors of the client: for a wrong key, invalid input, a body that is too large, and an exhausted budget. */
type Kinds = readonly [key: string, input: string, large: string, spent: string]
const kinds: Readonly<Record<string, Kinds>> = {
  resend: ['invalid_api_key', 'validation_error', 'application_error', 'daily_quota_exceeded'],
  sendgrid: ['ResponseError', 'ResponseError', 'ResponseError', 'ResponseError'],
  postmark: ['InvalidAPIKeyError', 'InvalidEmailRequestError', 'UnknownError', 'RateLimitExceededError'],
  mailgun: ['MailgunAPIError', 'MailgunAPIError', 'MailgunAPIError', 'MailgunAPIError'],
  brevo: ['BrevoError', 'BadRequestError', 'BrevoError', 'BrevoError'],
  mailersend: ['Object', 'Object', 'Object', 'Object'],
  sparkpost: ['SparkPostError', 'SparkPostError', 'SparkPostError', 'SparkPostError'],
  mailjet: ['mj-0002', 'mj-0013', 'mj-0031', 'send-0010'],
  ses: ['UnrecognizedClientException', 'BadRequestException', 'BadRequestException', 'LimitExceededException'],
}

/** Returns the error class, or the field that distinguishes errors. */
function kindOf(name: string, error: unknown): unknown {
  const given = error as {
    name?: string
    type?: string
    response?: { data?: { ErrorCode?: string; Messages?: { Errors: { ErrorCode: string }[] }[] } }
  }
  if (name === 'mailjet') return given.response?.data?.Messages?.[0]?.Errors[0]?.ErrorCode ?? given.response?.data?.ErrorCode
  if (name === 'resend' || name === 'ses' || name === 'sparkpost') return given.name
  if (name === 'mailgun') return given.type
  return (error as object).constructor.name
}

/** Status of invalid input other than 400. */
const badInput: Readonly<Record<string, number>> = { resend: 422, postmark: 422, mailersend: 422, sparkpost: 422 }
/** Status of an exhausted budget other than 429; Brevo’s client would retry a 429. */
const overBudget: Readonly<Record<string, number>> = { brevo: 402 }
const noKey: Readonly<Record<string, number>> = { ses: 403 }

for (const [name, send] of Object.entries(clients))
  test(`${name}: errors for key, sender, recipient, body, size and suppression`, async (t) => {
    const sink = await Sink.listen()
    t.teardown(() => sink[Symbol.asyncDispose]())
    const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32', POSTERN_HTTP_MAX_BODY_BYTES: '100000' }
    const { rest, addresses } = await startDaemon(t, { env, replacements: { clock: FakeClock.atMachineTime() } })
    await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
    for (const email of ['gone@example.net', mailOf(name).cc, mailOf(name).bcc]) await rest.must('POST', '/v1/suppressions', { email })
    const address = `http://${addresses.http}`
    const mail = mailOf(name)
    const [ofKey, ofInput, ofSize, ofSpent] = kinds[name] ?? ['', '', '', '']
    const refusal = async (sent: Promise<string>, kind: string): Promise<readonly [unknown, unknown]> => {
      const error = await sent.then(
        () => t.fail('the request was accepted'),
        (reason: unknown) => reason,
      )
      t.is(kindOf(name, error), kind)
      return read[name]?.(error as never) ?? [undefined, undefined]
    }
    const bad = badInput[name] ?? 400
    const [status, texts] = await refusal(send(address, `svckey_${'x'.repeat(43)}`, mail), ofKey)
    t.is(status, noKey[name] ?? 401)
    t.regex(String(texts), /key/)
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ from: { email: 'nobody', name: 'No address' } }, /from|sender/i],
      [{ to: { email: 'ada@@example.net', name: 'Ada' } }, /to|recipients/i],
      [{ text: '', html: '', isBare: true }, /body|text/i],
    ]
    for (const [change, sentence] of cases) {
      const [code, said] = await refusal(send(address, adminKey, { ...mail, ...change }), ofInput)
      t.is(code, bad, JSON.stringify(change))
      t.regex(String(said), sentence)
      t.false(/internal|undefined|\[object/.test(String(said)), String(said))
    }
    const [tooLarge] = await refusal(send(address, adminKey, { ...mail, text: 'x'.repeat(200_000) }), ofSize)
    t.is(tooLarge, 413)
    const all = { ...mail, to: { email: 'gone@example.net', name: 'Gone' } }
    if (name === 'postmark') t.like(await send(address, adminKey, all).catch((error: unknown) => error), { code: 406, statusCode: 422 })
    else {
      const id = await send(address, adminKey, all)
      t.is((await rest.must('GET', `/v1/traces/${id}`))['status'], 'suppressed')
    }
    for await (const { id, project_sends_today: send_budget } of rest.rows('/v1/projects'))
      await rest.must('PATCH', `/v1/projects/${String(id)}`, { send_budget: Math.max(1, Number(send_budget)) })
    const [spent, why] = await refusal(send(address, adminKey, all), ofSpent)
    t.is(spent, overBudget[name] ?? 429)
    t.regex(String(why), /budget/)
    t.is(sink.deliveries.length, 0)
  })

test('keys: other kinds of keys and missing scopes cannot send', async (t) => {
  const { rest, addresses } = await startDaemon(t, { replacements: { clock: FakeClock.atMachineTime() } })
  const address = `http://${addresses.http}`
  const { key: reader } = await rest.must('POST', '/v1/api-keys', { name: 'reader', scopes: ['api:read'] })
  const page = { name: 'page', allowed_origins: ['https://example.ch'], allowed_to: ['ada@example.net'], locked_from: 'shop@example.ch' }
  const { raw_token: publishable } = await rest.must('POST', '/v1/publishable-keys', page)
  for (const [name, send] of Object.entries(clients))
    for (const key of [String(reader), String(publishable)]) {
      const error = await send(address, key, { ...mailOf(name), isBare: true }).then(
        () => t.fail(`${name} took it`),
        (reason: unknown) => reason,
      )
      const [status, sentence] = read[name]?.(error as never) ?? []
      t.true(status === 401 || status === 403, `${name}: ${String(status)}`)
      t.regex(String(sentence), /key|scope/i, name)
    }
  t.deepEqual((await rest.must('GET', '/v1/traces'))['data'], [])
})

const twice = [
  { Name: 'X-N', Value: 'a' },
  { Name: 'X-N', Value: 'b' },
]
const twiceByCase = { 'X-N': 'a', 'x-n': 'b' }
const plain = { from: one(from), to: [one(ada)], subject: 's', text: 't' }
const bySendGrid = { from: one(from), subject: 's', personalizations: [{ to: [one(ada)] }] }
const byMailgun = { from, to: ada, subject: 's', text: 't' }
const bySes = { FromEmailAddress: from, Destination: { ToAddresses: [ada] } }
const texts = { Subject: 's', Text: 't' }
const bulkEntry = { Destination: { ToAddresses: [ada] } }
const partsOf = (...types: readonly string[]) => types.map((type) => ({ type, value: 't' }))

/** Requests with a repeated part or header field, and the path in the error. */
const repeated: readonly (readonly [path: string, place: string, body: Body | string])[] = [
  [paths.resend, 'headers.x-n', { from, to: ada, subject: 's', text: 't', headers: twiceByCase }],
  [paths.sendgrid, 'content[1].type', { ...bySendGrid, content: partsOf('text/plain', 'text/plain') }],
  [paths.sendgrid, 'content[2].type', { ...bySendGrid, content: partsOf('text/plain', 'text/html', 'Text/HTML') }],
  [paths.sendgrid, 'headers.x-n', { ...bySendGrid, content: partsOf('text/plain'), headers: twiceByCase }],
  ['/email', 'Headers[1]', { From: from, To: ada, Subject: 's', TextBody: 't', Headers: twice }],
  [paths.brevo, 'headers.x-n', { sender: one(from), to: [one(ada)], subject: 's', textContent: 't', headers: twiceByCase }],
  [paths.mailersend, 'headers[1]', { ...plain, headers: twice.map(({ Name: name, Value: value }) => ({ name, value })) }],
  [
    paths.sparkpost,
    'content.headers.x-n',
    { recipients: [{ address: ada }], content: { from, subject: 's', text: 't', headers: twiceByCase } },
  ],
  [
    paths.mailjet,
    'Messages[0].Headers.x-n',
    { Messages: [{ From: { Email: from }, To: [{ Email: ada }], Subject: 's', TextPart: 't', Headers: twiceByCase }] },
  ],
  [
    paths.ses,
    'Content.Simple.Headers[1]',
    { ...bySes, Content: { Simple: { Subject: { Data: 's' }, Body: { Text: { Data: 't' } }, Headers: twice } } },
  ],
  [paths.ses, 'Content.Template.Headers[1]', { ...bySes, Content: { Template: { TemplateContent: texts, Headers: twice } } }],
  [
    paths.bulkSes,
    'DefaultContent.Template.Headers[1]',
    { FromEmailAddress: from, DefaultContent: { Template: { TemplateContent: texts, Headers: twice } }, BulkEmailEntries: [bulkEntry] },
  ],
  [
    paths.bulkSes,
    'BulkEmailEntries[0].ReplacementHeaders[1]',
    {
      ...{ FromEmailAddress: from, DefaultContent: { Template: { TemplateContent: texts } } },
      BulkEmailEntries: [{ ...bulkEntry, ReplacementHeaders: twice }],
    },
  ],
  [paths.mailgun, 'h:x-n', new URLSearchParams({ ...byMailgun, 'h:X-N': 'a', 'h:x-n': 'b' }).toString()],
  ...['from', 'subject', 'text', 'html', 'template', 't:version', 't:variables', 'recipient-variables', 'o:deliverytime'].map((name) => {
    const given = new URLSearchParams([...Object.entries(byMailgun), [name, '{"n":1}'], [name, '{"n":2}']])
    return [paths.mailgun, name, given.toString()] as const
  }),
]

test('requests: a repeated part or header field is refused with its path', async (t) => {
  const { rest } = await startDaemon(t)
  for (const [path, place, body] of repeated) {
    const form = typeof body === 'string' && Buffer.from(body)
    const type = form ? { 'content-type': 'application/x-www-form-urlencoded' } : undefined
    const { status, bytes } = await rest.call('POST', path, form || body, type)
    const said = bytes.toString()
    t.true(status >= 400 || path === paths.bulkSes, `${path}: ${String(status)}`)
    t.regex(said, /\b(?:is given|appears) twice/, path)
    t.true(said.includes(`"${place}`) || said.includes(`"${place}: `), `${path}: ${place} in ${said}`)
  }
  const statuses = (await Array.fromAsync(rest.rows('/v1/traces'))).map(({ status }) => status)
  t.deepEqual([...new Set(statuses)], ['validation_failed'])
})
