/** Webhooks in formats of other services, apart from payloads: SNS, changes of the format, and header fields. */
import { X509Certificate } from 'node:crypto'
import { createServer as createTlsServer, globalAgent } from 'node:https'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from '#test'
import SnsValidator from 'sns-validator'
import { webhookEndpoints, type WebhookEventType } from '#core/webhooks/endpoint.ts'
import { announce } from '#core/webhooks/events/announce.ts'
import { webhookFormats } from '#core/webhooks/formats/format-names.ts'
import { Change } from '#store/change.ts'
import { authority, goodCertificate } from '../../../protocols/relay/certificates.ts'
import type { Received } from '../../../support/web/webhook-receiver.ts'
import { errorOf, startFixture } from '../fixture/rest-fixture.ts'
import { Scene, endpointOf, jsonOf, onlyOf, recipient, secureReceiverOf, type Endpoint, type Row } from './webhook-scene.ts'

/** Starts the daemon behind TLS at its public address, as a reverse proxy does. */
async function behindTls(t: ExecutionContext): Promise<{ readonly baseUrl: string; forwardTo: (address: string) => void }> {
  let inside = ''
  const server = createTlsServer(goodCertificate, (request, response) => {
    const answered = fetch(`http://${inside}${request.url ?? ''}`)
    void answered.then(async (got) => response.writeHead(got.status).end(await got.text()))
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  t.teardown(() => server.close())
  globalAgent.options.ca = authority
  t.teardown(() => delete globalAgent.options.ca) // the value `undefined` would override the certificates of a request
  return { baseUrl: `https://localhost:${(server.address() as AddressInfo).port}`, forwardTo: (address) => (inside = address) }
}

const validate = (body: string, hosts?: RegExp): Promise<Row> =>
  new Promise((resolve, reject) =>
    new SnsValidator(hosts).validate(body, (error, message) => (error ? reject(error) : resolve(message ?? {}))),
  )

test.serial('SNS: certificate address and confirmation work with the AWS validator for our host', async (t) => {
  const { baseUrl, forwardTo } = await behindTls(t)
  const fixture = await startFixture(t, { settings: { POSTERN_BASE_URL: baseUrl } })
  const { rest } = fixture
  forwardTo(fixture.address.replace('http://', ''))
  const scene = new Scene(fixture)
  await fixture.webhookDispatcher.start()
  await scene.send()
  const { made, receiver } = await endpointOf(t, fixture, 'ses')
  await scene.happens('hard')
  const [confirmation, event] = await receiver.hasReceived(2)
  const ours = /^localhost:\d+$/
  const asked = await validate(confirmation!.body, ours)
  const topic = `arn:aws:sns:us-east-1:000000000000:${String(made['id'])}`
  t.like(asked, { Type: 'SubscriptionConfirmation', TopicArn: topic })
  t.is(confirmation!.headers['x-amz-sns-message-type'], 'SubscriptionConfirmation')
  const inside = (url: unknown): string => String(url).replace(baseUrl, '')
  const confirmed = await rest.call('GET', inside(asked['SubscribeURL']))
  t.is(confirmed.status, 200)
  t.true(confirmed.bytes.toString().includes(`<SubscriptionArn>${topic}:postern</SubscriptionArn>`))
  t.is((await rest.call('GET', inside(asked['SubscribeURL']).replace(/Token=./, 'Token=z'))).status, 404)
  t.is((await rest.call('GET', '/sns/SimpleNotificationService-00000000000000000000000000000000.pem')).status, 404)
  const message = await validate(event!.body, ours)
  t.like(message, { Type: 'Notification', SignatureVersion: '1', TopicArn: topic, MessageId: event!.headers['x-service-delivery'] })
  t.is(new X509Certificate(String(made['verification_key'])).publicKey.asymmetricKeyDetails?.modulusLength, 2048)
  const pem = await rest.call('GET', inside(message['SigningCertURL']))
  t.is(pem.bytes.toString(), String(made['verification_key']))
  await t.throwsAsync(validate(event!.body.replace('Permanent', 'Transient'), ours), { message: /signature is invalid/ })
  await t.throwsAsync(validate(event!.body), { message: /invalid domain/ }, 'by default the validator accepts only hosts of AWS')
  const rotated = await rest.must('POST', `/v1/webhooks/${String(made['id'])}/rotate-secret`)
  t.not(rotated['verification_key'], made['verification_key'])
  t.is((await rest.call('GET', inside(message['SigningCertURL']))).status, 404)
  await scene.happens('delivered')
  await validate((await receiver.hasReceived(3))[2]!.body, ours)
  const { data } = await rest.must('GET', `/v1/webhooks/${String(made['id'])}/attempts?event_type=subscription_confirmation`)
  t.like(data, [{ status: 'succeeded', trace_id: null }])
})

test('later attempts use the new format; unsupported events are parked with a reason', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const scene = new Scene(fixture)
  await fixture.webhookDispatcher.start()
  await scene.send()
  const { made, receiver } = await endpointOf(t, fixture, 'native')
  t.like(made, { format: 'native', verification_key: null, header_names: [] })
  receiver.answer = (response) => response.writeHead(500).end()
  const path = `/v1/webhooks/${String(made['id'])}`
  await scene.happens('hard')
  await scene.happens('suppressed')
  t.like(await rest.must('PATCH', path, { format: 'sendgrid' }), { format: 'sendgrid' })
  receiver.answer = (response) => response.writeHead(200).end()
  fixture.clock.advance(60_000)
  await fixture.webhookDispatcher.idle()
  const [first, , third, ...others] = receiver.received
  t.deepEqual(others, [])
  t.is(jsonOf(first!)['type'], 'bounced')
  t.like(onlyOf(third!), { event: 'bounce', email: recipient })
  t.is(third!.headers['x-service-delivery'], first!.headers['x-service-delivery'])
  const rows = (await rest.must('GET', `${path}/attempts`))['data'] as Row[]
  const parked = rows.find(({ event_type }) => event_type === 'auto_suppressed')
  t.like(parked, { status: 'parked', attempt_count: 2, next_attempt_at: null })
  t.regex(String(parked?.['last_error']), /^The format sendgrid has no event for auto_suppressed/)
  const bounced = rows.find(({ event_type }) => event_type === 'bounced')
  const stored = (await rest.must('GET', `/v1/webhooks/attempts/${String(bounced?.['id'])}`))['body']
  t.is(stored, first!.body)
  t.like(await rest.must('PATCH', path, { format: 'mailjet' }), { format: 'mailjet', verification_key: null })
  await rest.must('POST', `/v1/webhooks/attempts/${String(bounced?.['id'])}/redeliver`)
  await fixture.webhookDispatcher.idle()
  t.like(onlyOf(receiver.received[3]!), { event: 'bounce', hard_bounce: true })
  t.like(await rest.must('POST', `${path}/test`, { event_type: 'delivered' }), { delivered: true })
  t.is(onlyOf(receiver.received[4]!)['event'], 'sent')
  const refused = await rest.call('POST', `${path}/test`, { event_type: 'auto_suppressed' })
  t.is(refused.status, 400)
  t.is(errorOf(refused).message, 'event_type: must be an event that the format mailjet has')
  const [entry] = (await rest.must('GET', '/v1/audit?act=webhook_endpoint'))['data'] as Row[]
  t.true(JSON.stringify(entry).includes('"mailjet"'), 'the audit log shows the format')
  const back = await rest.must('PATCH', path, { format: 'native' })
  t.is(back['format'], 'native')
  await rest.must('POST', `/v1/webhooks/attempts/${String(parked?.['id'])}/redeliver`)
  await fixture.webhookDispatcher.idle()
  t.is(jsonOf(receiver.received[5]!)['type'], 'auto_suppressed')
})

test('header fields and logins are sent with every request and shown in no answer', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const receiver = await secureReceiverOf(t)
  const withLogin = receiver.url.replace('https://', 'https://mail%40jet:s%3Acret@')
  const made = await rest.must('POST', '/v1/webhooks', {
    ...{ name: 'x', target_url: withLogin, format: 'mailjet', headers: { 'X-Shop': 'one two' } },
  })
  t.like(made, { target_url: receiver.url, header_names: ['x-shop', 'authorization'] })
  const path = `/v1/webhooks/${String(made['id'])}`
  const lastHeaders = async (): Promise<Received['headers']> => {
    await rest.must('POST', `${path}/test`)
    return receiver.received.at(-1)!.headers
  }
  const authorization = `Basic ${Buffer.from('mail@jet:s:cret').toString('base64')}`
  t.like(await lastHeaders(), { authorization, 'x-shop': 'one two' })
  t.like(await rest.must('PATCH', path, { name: 'y', target_url: receiver.url }), { header_names: ['x-shop', 'authorization'] })
  await rest.must('PATCH', path, { headers: { authorization: 'Bearer opened-sesame' } })
  const headers = await lastHeaders()
  t.like(headers, { authorization: 'Bearer opened-sesame' })
  t.false('x-shop' in headers)
  t.like(await rest.must('PATCH', path, { target_url: 'https://hooks.example.ch/' }), { header_names: [] }, 'another host gets no login')
  t.like(await rest.must('PATCH', path, { target_url: receiver.url }), { header_names: [] })
  await rest.must('PATCH', path, { headers: { authorization: 'Bearer opened-sesame' } })
  t.like(await rest.must('PATCH', path, { headers: {} }), { header_names: [] })
  t.false('authorization' in (await lastHeaders()))
  const shown = JSON.stringify([await rest.must('GET', path), await rest.must('GET', '/v1/audit?act=webhook_endpoint')])
  for (const secret of ['cret', 'one two', 'opened-sesame', authorization]) t.false(shown.includes(secret), secret)
  for (const name of ['Host', 'content-length', 'Transfer-Encoding', 'X-Service-Signature', 'svix-id']) {
    const answer = await rest.call('PATCH', path, { headers: { [name]: 'x' } })
    t.is(errorOf(answer).message, `headers.${name}: is set by the service itself`)
  }
  const twice = await rest.call('PATCH', path, { headers: { 'x-a': 'x', 'X-A': 'y' } })
  t.is(errorOf(twice).message, 'headers: must not name a field twice')
  for (const bad of [
    { 'a b': 'x' },
    { a: 'x\r\ny: z' },
    { a: '' },
    Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`x${i}`, 'x'])),
  ])
    t.is((await rest.call('PATCH', path, { headers: bad })).status, 400)
  const native = await rest.call('POST', '/v1/webhooks', { name: 'x', target_url: withLogin })
  t.regex(errorOf(native).message, /must not contain a user name or password/)
  t.is((await rest.call('POST', '/v1/webhooks', { name: 'x', target_url: receiver.url, format: 'sendmail' })).status, 400)
})

test('a deleted trace still has its event in each format', async (t) => {
  const fixture = await startFixture(t)
  const { rest, database, organizationId, clock } = fixture
  await fixture.webhookDispatcher.start()
  const all: Endpoint[] = []
  for (const format of webhookFormats.slice(1)) all.push(await endpointOf(t, fixture, format))
  const endpoints = (await database.all(webhookEndpoints, { organizationId })).map(({ record }) => record)
  const type: WebhookEventType = 'delivered'
  const recipients = [{ address: recipient, status: 'delivered' as const }]
  const trace = {
    id: 'f2ee2db4-3ba8-4b0c-a1b4-fbd42b2f2a10',
    projectId: endpoints[0]!.projectId,
    messageId: 'm@x',
    destinationId: null,
    recipients,
  }
  const change = new Change()
  announce(
    database,
    change,
    Map.groupBy(endpoints, ({ projectId }) => projectId),
    { organizationId, type, trace, recipient, reason: null, at: clock.now() },
  )
  await database.commit(change)
  await fixture.webhookDispatcher.idle()
  t.deepEqual((await rest.must('GET', '/v1/webhooks/attempts?status=failed'))['data'], [])
  for (const { receiver } of all) t.false(receiver.received.at(-1)!.body.includes('1970-'))
  for (const { receiver } of all) t.true(receiver.received.at(-1)!.body.includes("o'ha{{ra}}+"), receiver.received.at(-1)!.body)
})
