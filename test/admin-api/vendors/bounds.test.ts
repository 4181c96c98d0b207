/** Size limits of requests that create many messages. They are checked by the received octets, before a message is created. */
import { Readable } from 'node:stream'
import test from '#test'
import { adminKey, startDaemon } from '../../support/daemon/start-daemon.ts'

const email = 'shop@example.ch'
const people = Array.from({ length: 1000 }, (_, i) => `p${String(i)}@example.net`)
const map = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`name ${String(i)}`, 'x']))
const nested = `{"name":${'['.repeat(1000)}${']'.repeat(1000)}}`
const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [i, 1])))
const formOf = (fields: Readonly<Record<string, string>>) => Buffer.from(new URLSearchParams(fields).toString())

test('limits: shared maps are small, and objects in text fields are limited', async (t) => {
  const { rest } = await startDaemon(t)
  const content = { from: email, subject: 's', text: 't' }
  const mail = { from: { email }, subject: 's', content: [{ type: 'text/plain', value: 't' }] }
  const personalizations = people.map((one) => ({ to: [{ email: one }] }))
  const versions = people.map((one) => ({ to: [{ email: one }] }))
  const template = (TemplateData: string) => ({
    ...{ FromEmailAddress: email, Destination: { ToAddresses: people.slice(0, 1) } },
    Content: { Template: { TemplateName: 'hello', TemplateData } },
  })
  const named = /: at most 1000 names/
  const cases: readonly (readonly [path: string, body: object, sentence: RegExp])[] = [
    ['/api/v1/transmissions', { recipients: people.map((address) => ({ address })), content, substitution_data: map }, named],
    ['/api/v1/transmissions', { recipients: people.map((address) => ({ address })), content, metadata: map }, named],
    ['/v3/mail/send', { ...mail, personalizations, custom_args: map }, named],
    ['/v3/mail/send', { ...mail, personalizations, substitutions: map }, named],
    ['/v3/smtp/email', { sender: { email }, subject: 's', textContent: 't', headers: map, messageVersions: versions }, named],
    ['/v2/email/outbound-emails', template(nested), /TemplateData: nests deeper than 32 levels/],
    ['/v2/email/outbound-emails', template(wide), /TemplateData: has more than 50000 values/],
    ['/v2/email/outbound-emails', template(`{"name":"${'x'.repeat(1_048_576)}"}`), /TemplateData: at most 1048576 characters/],
  ]
  for (const [path, body, sentence] of cases) {
    const { status, bytes } = await rest.call('POST', path, body)
    t.true(status === 400 || status === 422, `${path}: ${String(status)}`)
    t.regex(bytes.toString(), sentence)
  }
  for (const [name, value] of [
    ['t:variables', nested],
    ['recipient-variables', nested],
    ['h:X-Mailgun-Variables', wide],
  ] as const) {
    const body = formOf({ from: email, to: 'ada@example.net', template: 'hello', [name]: value })
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const { status, bytes } = await rest.call('POST', '/v3/example.ch/messages', body, type)
    t.is(status, 400)
    t.regex(bytes.toString(), new RegExp(`${name}: (?:nests deeper|has more than 50000 values)`))
  }
})

test('limits: the same for requests with and without Content-Length', async (t) => {
  const { rest, addresses } = await startDaemon(t)
  const many = people.slice(0, 12)
  const boundary = 'x1'
  const part = (name: string, value: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const form = { from: email, to: many.join(), subject: 's', text: 't', 'recipient-variables': '{}' }
  const multipart = `${Object.entries(form)
    .map(([name, value]) => part(name, value))
    .join('')}--${boundary}--\r\n`
  const mail = { from: { email }, subject: 's', content: [{ type: 'text/plain', value: 't' }] }
  for (const [path, type, body] of [
    ['/v3/mail/send', 'application/json', JSON.stringify({ ...mail, personalizations: many.map((one) => ({ to: [{ email: one }] })) })],
    ['/v3/example.ch/messages', `multipart/form-data; boundary=${boundary}`, multipart],
  ] as const) {
    const answer = await fetch(`http://${addresses.http}${path}`, {
      ...{ method: 'POST', headers: { authorization: `Bearer ${adminKey}`, 'content-type': type }, duplex: 'half' },
      body: Readable.toWeb(Readable.from([Buffer.from(body)])),
    })
    t.true(answer.ok, `${path}: ${await answer.text()}`)
  }
  t.is((await Array.fromAsync(rest.rows('/v1/traces'))).length, 2 * many.length)
  // each message would be as large as the whole request
  const large = { ...mail, content: [{ type: 'text/plain', value: 'x'.repeat(2_000_000) }] }
  const { status, bytes } = await rest.call('POST', '/v3/mail/send', {
    ...large,
    personalizations: people.map((one) => ({ to: [{ email: one }] })),
  })
  t.is(status, 413)
  t.regex(bytes.toString(), /creates 1000 messages; a request of this size may create at most \d+/)
})

test('limits: text with variables is limited per message and per request', async (t) => {
  const { rest } = await startDaemon(t, { env: { POSTERN_HTTP_MAX_BODY_BYTES: '1000000' } })
  const x = 'x'.repeat(10_000)
  const one = people.slice(0, 1)
  const marks = (mark: string, times = 20_000) => mark.repeat(times)
  const mail = { from: { email }, subject: 's', content: [{ type: 'text/html', value: marks('-x-') }] }
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const form = { from: email, to: one.join(), subject: 's', 'recipient-variables': JSON.stringify({ [String(one)]: { x } }) }
  const cases: readonly (readonly [path: string, body: object])[] = [
    [
      '/api/v1/transmissions',
      { recipients: [{ address: one[0], substitution_data: { x } }], content: { from: email, subject: 's', html: marks('{{x}}') } },
    ],
    ['/v3/mail/send', { ...mail, personalizations: [{ to: [{ email: one[0] }], substitutions: { '-x-': x } }] }],
    ['/v3/smtp/email', { sender: { email }, to: [{ email: one[0] }], subject: marks('{{params.x}}'), textContent: 't', params: { x } }],
    ['/v3/example.ch/messages', formOf({ ...form, html: marks('%recipient.x%') })],
    ['/v3/example.ch/messages', formOf({ ...form, template: 'hello', 't:variables': `{"a":"${marks('%recipient.x%')}"}` })],
  ]
  for (const [path, body] of cases) {
    const { status, bytes } = await rest.call('POST', path, body, body instanceof Buffer ? type : {})
    t.true(status === 400 || status === 422, `${path}: ${String(status)} ${bytes.toString()}`)
    t.regex(bytes.toString(), /at most 2097152 characters with its variables filled in|at most 1048576 characters/)
  }
  const recipients = people.slice(0, 20).map((address) => ({ address }))
  const content = { from: email, subject: 's', text: marks('{{x}}', 100) }
  const { status, bytes } = await rest.call('POST', '/api/v1/transmissions', { recipients, content, substitution_data: { x } })
  t.is(status, 200)
  const { results } = JSON.parse(bytes.toString()) as { results: { total_accepted_recipients: number; rcpt_to_errors: object[] } }
  t.is(results.total_accepted_recipients, 8, 'the limit is eight times the largest body')
  t.regex(JSON.stringify(results.rcpt_to_errors), /are too large in total/)
})

test('limits: a batch with different contents may use the whole body size', async (t) => {
  const { rest } = await startDaemon(t, { env: { POSTERN_HTTP_MAX_BODY_BYTES: '1000000' } })
  const text = 'x'.repeat(40_000)
  const many = people.slice(0, 20)
  const each = <T>(make: (one: string) => T): T[] => many.map((one) => make(one))
  const cases: readonly (readonly [path: string, body: unknown])[] = [
    ['/emails/batch', each((to) => ({ from: email, to, subject: 's', text }))],
    ['/email/batch', each((To) => ({ From: email, To, Subject: 's', TextBody: text }))],
    ['/v1/bulk-email', each((to) => ({ from: { email }, to: [{ email: to }], subject: 's', text }))],
    ['/v3.1/send', { Messages: each((to) => ({ From: { Email: email }, To: [{ Email: to }], Subject: 's', TextPart: text })) }],
    ['/v3/smtp/email', { sender: { email }, subject: 's', messageVersions: each((to) => ({ to: [{ email: to }], textContent: text })) }],
  ]
  for (const [i, [path, body]] of cases.entries()) {
    const { status, bytes } = await rest.call('POST', path, body)
    t.true(status < 300, `${path}: ${String(status)} ${bytes.toString()}`)
    t.is(
      (await Array.fromAsync(rest.rows('/v1/traces?status=queued'))).length +
        (await Array.fromAsync(rest.rows('/v1/traces?status=captured'))).length,
      (i + 1) * many.length,
      path,
    )
  }
})
