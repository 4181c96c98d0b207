/** Requests of a web page with a publishable key: hostile fields, and keys that end during a send. */
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import test from '#test'
import {
  codeOf,
  firstField,
  origin,
  page,
  plain,
  publishableFixture,
  tracesOf,
  type PublishableFixture,
} from '../fixture/publishable-page.ts'
import { captchaDouble, type Said } from '../fixture/publishable.ts'

test('publishable key: cannot add header fields, which may name recipients', async (t) => {
  const { send, rest } = await publishableFixture(t)
  for (const [name, value] of [
    ['X-SMTPAPI', '{"to":["eve@example.net"]}'],
    ['X-MC-BccAddress', 'eve@example.net'],
    ['X-MSYS-API', '{"cc":[{"email":"eve@example.net"}]}'],
    ['Disposition-Notification-To', 'eve@example.net'],
  ] as const) {
    const answer = await send({ headers: { [name]: value } })
    t.is(codeOf(answer), '400 validation_failed', name)
    t.regex(String(firstField(answer)), /^headers/, name)
  }
  t.is(codeOf(await send({ headers: {} })), 200)
  t.is((await tracesOf(rest)).length, 1)
})

test('publishable key: counts its sends and refusals', async (t) => {
  const { send, rest, daemon } = await publishableFixture(t)
  t.is(codeOf(await send({})), 200)
  t.is(codeOf(await send({ to: 'eve@elsewhere.example' })), '403 recipient_not_allowed')
  t.is(codeOf(await send({}, { origin: 'https://elsewhere.example' })), '403 origin_not_allowed')
  await daemon.pass(1000)
  const { data } = await rest.must('GET', '/v1/insights/publishable-keys')
  const [one] = data as { readonly totals: Record<string, unknown>; readonly points: readonly object[] }[]
  t.like(one?.totals, {
    ...{ captured_no_route: 1, relayed: 0, refused: 2 },
    refused_by_code: { recipient_not_allowed: 1, origin_not_allowed: 1 },
  })
  t.true(one && one.points.length > 1)
})

test('publishable key: cannot request unsubscribe links for its recipients', async (t) => {
  const { send } = await publishableFixture(t)
  const answer = await send({ list_unsubscribe: true })
  t.is(codeOf(answer), '400 validation_failed')
  t.is(firstField(answer), 'list_unsubscribe')
  t.is(codeOf(await send({ list_unsubscribe: false })), 200)
})

test('an allowed domain does not accept addresses that relay to another domain', async (t) => {
  const { send } = await publishableFixture(t, { allowed_to: [...page.allowed_to, 'a%b@team.example.ch'] })
  for (const to of ['eve%example.net@team.example.ch', 'example.net!eve@team.example.ch'])
    t.is(codeOf(await send({ to })), '403 recipient_not_allowed', to)
  t.is(codeOf(await send({ to: 'A%B@team.example.ch' })), 200, 'an address that the key names exactly is allowed')
})

test("rate limits ignore the port and the notation of the visitor's address", async (t) => {
  const { send } = await publishableFixture(t, { rates: { per_ip_hour: 1 } })
  const from = (address: string) => send({}, { 'x-forwarded-for': address })
  t.is(codeOf(await from('198.51.100.7:5001')), 200)
  for (const again of ['198.51.100.7:5002', '198.51.100.7', '::FFFF:198.51.100.7'])
    t.is(codeOf(await from(again)), '429 rate_limit_exceeded', again)
  t.is(codeOf(await from('::FFFF:198.51.100.8')), 200, 'another address counts separately')
})

test('publishable key: sends with templates of its project only', async (t) => {
  const { send, rest } = await publishableFixture(t)
  const welcome = { slug: 'welcome', name: 'Welcome', subject_tmpl: 'Welcome', text_tmpl: 'Hello' }
  const own = await rest.must('POST', '/v1/templates', welcome)
  const project = await rest.must('POST', '/v1/projects', { name: 'Other' })
  const foreign = await rest.must('POST', '/v1/templates', { ...welcome, project_id: project['id'] })
  t.is(codeOf(await send({ text: undefined, template_id: own['id'] })), 200)
  const answer = await send({ text: undefined, template_id: foreign['id'] })
  t.is(codeOf(answer), '400 validation_failed')
  t.is(firstField(answer), 'template_id')
  t.is((await tracesOf(rest)).length, 1)
  const { data } = await rest.must('GET', '/v1/insights/templates')
  t.like(data, [{ template_id: own['id'], totals: { captured_no_route: 1, relayed: 0 } }])
  t.is((data as object[]).length, 1)
})

test('line breaks and lists in visitor fields add no header field and no recipient', async (t) => {
  const { send, rest } = await publishableFixture(t, { rates: { per_ip_hour: 100 } })
  const crlf = '\r\nBcc: eve@example.net'
  for (const [field, value] of [
    ['reply_to', `visitor@example.net${crlf}`],
    ['reply_to', { email: 'visitor@example.net', name: `V${crlf}` }],
    ['reply_to', 'visitor@example.net, eve@example.net'],
    ['reply_to', 'all: eve@example.net;'],
    ['subject', `Hello${crlf}`],
    ['to', 'ada@example.ch, eve@example.net'],
    ['to', 'ada@example.ch <eve@example.net>'],
    ['to', 'all: ada@example.ch, eve@example.net;'],
    ['cc', `ada@example.ch${crlf}`],
    ['from', `form@example.ch${crlf}`],
    ['idempotency_key', `x${crlf}`],
  ] as const)
    t.is(codeOf(await send({ [field]: value })), '400 validation_failed', `${field}: ${JSON.stringify(value)}`)
  t.deepEqual(await tracesOf(rest), [])
})

const endings = [
  ['rotated', (fixture: PublishableFixture) => fixture.rest.must('POST', `/v1/publishable-keys/${fixture.id}/rotate`)],
  ['revoked', (fixture: PublishableFixture) => fixture.rest.must('DELETE', `/v1/publishable-keys/${fixture.id}`)],
] as const

for (const [what, end] of endings) {
  test(`upload: a send is refused if its key is ${what} during the upload`, async (t) => {
    const fixture = await publishableFixture(t)
    const { status, code } = await slowSend(fixture, () => end(fixture))
    t.deepEqual([status, code], [401, 'invalid_key'])
    t.deepEqual(await tracesOf(fixture.rest), [])
  })

  test(`captcha: a send is refused if its key is ${what} during the verification`, async (t) => {
    const double = await captchaDouble(t)
    const fixture = await publishableFixture(t, { captcha_provider: 'turnstile', captcha_secret: 'right' }, { captcha: double.urls })
    const asked = Promise.withResolvers<void>()
    const held = Promise.withResolvers<Said>()
    double.say = () => (asked.resolve(), held.promise)
    const sent = fixture.send({}, { 'x-service-captcha-token': 'solved' })
    await asked.promise
    await end(fixture)
    held.resolve({ text: '{"success": true}' })
    t.is(codeOf(await sent), '401 invalid_key')
    t.deepEqual(await tracesOf(fixture.rest), [])
  })
}

/** Starts a send whose body follows after the server accepted its key and `meanwhile` has finished. */
function slowSend({ address, token }: PublishableFixture, meanwhile: () => Promise<unknown>) {
  const [host, port] = address.split(':')
  const body = JSON.stringify(plain)
  const headers = { ...{ authorization: `Bearer ${token}`, origin, expect: '100-continue' }, 'content-type': 'application/json' }
  return new Promise<{ status: number | undefined; code: unknown }>((resolve, reject) => {
    const options = { host, port, method: 'POST', path: '/v1/messages', headers: { ...headers, 'content-length': body.length } }
    const sent = request(options, (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
      answer.on('end', () => {
        const { error } = JSON.parse(text) as { error?: { code: unknown } }
        resolve({ status: answer.statusCode, code: error?.code })
      })
    })
    sent.on('error', reject)
    sent.on('continue', () => void meanwhile().then(() => sent.end(body), reject))
    sent.flushHeaders()
  })
}

test('rate windows: count refused bodies; a full window refuses a body unread', async (t) => {
  const { send, token, rest, address } = await publishableFixture(t, { rates: { per_ip_hour: 3 } })
  const from = (client: string, body: object) => send(body, { 'x-forwarded-for': client })
  t.is(codeOf(await from('198.51.100.7', { idempotency_key: 'first' })), 200)
  t.is(codeOf(await from('198.51.100.7', { unknown: 1 })), '400 validation_failed')
  t.is(codeOf(await from('198.51.100.7', { text: 'x'.repeat(70_000) })), '413 request_too_large')
  t.is(codeOf(await from('198.51.100.7', {})), '429 rate_limit_exceeded', 'refused bodies count like sends')
  t.is(codeOf(await from('198.51.100.7', { unknown: 1 })), '429 rate_limit_exceeded', 'before the body is read')
  const sent = request(`http://${address}/v1/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      origin,
      'content-type': 'application/json',
      'content-length': 60_000,
      'x-forwarded-for': '198.51.100.7',
    },
  })
  sent.flushHeaders()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  t.is(response.statusCode, 429, 'no octet of the body had arrived')
  sent.destroy()
  t.is(codeOf(await from('198.51.100.8', {})), 200, 'another address is not affected')
  t.is((await tracesOf(rest)).length, 2)
})

test('an accepted send can be repeated while the window is full', async (t) => {
  const { send } = await publishableFixture(t, { rates: { per_ip_hour: 1 } })
  const first = await send({ idempotency_key: 'one' })
  t.is(codeOf(first), 200)
  t.is(codeOf(await send()), '429 rate_limit_exceeded')
  t.deepEqual((await send({ idempotency_key: 'one' })).body, first.body)
})

test('rate windows: refused bodies count in the window of the whole key', async (t) => {
  const { send } = await publishableFixture(t, { rates: { per_ip_hour: 0, per_key_hour: 2 } })
  for (const client of ['198.51.100.1', '198.51.100.2'])
    t.is(codeOf(await send({ unknown: 1 }, { 'x-forwarded-for': client })), '400 validation_failed')
  t.is(codeOf(await send({}, { 'x-forwarded-for': '198.51.100.3' })), '429 rate_limit_exceeded')
})
