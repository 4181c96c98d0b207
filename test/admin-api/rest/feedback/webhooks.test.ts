/** Webhook endpoints and their attempts over REST, with real receivers on loopback. Spec "POST /v1/webhooks". */
import { createHmac } from 'node:crypto'
import test, { type ExecutionContext } from '#test'
import { webhookEventTypes } from '#core/webhooks/endpoint.ts'
import { webhookEventShape } from '#core/webhooks/events/event-body.ts'
import { goodCertificate } from '../../../protocols/relay/certificates.ts'
import { receiverOf, type ReceiverOptions, type WebhookReceiver } from '../../../support/web/webhook-receiver.ts'
import { testEvent } from '#core/alerts/kinds/alert-event.ts'
import { addDelivery } from '#core/webhooks/events/add-delivery.ts'
import { Change } from '#store/change.ts'
import { errorOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { announceIn } from './webhook-scene.ts'
import { column } from '../../../support/column.ts'

const target = 'https://hooks.example.ch/mail'
type Row = Readonly<Record<string, unknown>>

const secureReceiverOf = (t: ExecutionContext, options: ReceiverOptions = {}): Promise<WebhookReceiver> =>
  receiverOf(t, { certificate: goodCertificate, ...options })

const projectOf = async ({ rest }: Fixture): Promise<string> => String((await rest.must('GET', '/v1/projects/me'))['project_id'])

test('webhook: created with its secret shown once, read, updated, rotated, deleted', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const made = await rest.must('POST', '/v1/webhooks', { name: 'Shop', target_url: target, event_types: ['bounced', 'complained'] })
  const { hmac_secret, ...about } = made
  const noAttempt = { since: null, last_success_at: null, failures_in_a_row: 0, last_reply: null, findings: [] }
  const shown: Row = { ...about, health: { state: 'unknown', ...noAttempt } }
  t.regex(String(hmac_secret), /^whsec_[A-Za-z0-9+/]{43}=$/)
  const { id } = made
  t.like(shown, { name: 'Shop', target_url: target, event_types: ['bounced', 'complained'], project_id: await projectOf(fixture) })
  t.deepEqual(await rest.must('GET', `/v1/webhooks/${String(id)}`), shown)
  const all = await rest.must('POST', '/v1/webhooks', { name: 'All', target_url: 'https://hooks.example.ch' })
  t.like(all, { event_types: [], target_url: 'https://hooks.example.ch/' })
  const [first, ...others] = (await rest.must('GET', '/v1/webhooks'))['data'] as Row[]
  t.deepEqual([first?.['id'], ...others], [all['id'], shown])
  fixture.clock.advance(1000)
  const changed = await rest.must('PATCH', `/v1/webhooks/${String(id)}`, { event_types: [], name: 'Shop 2' })
  t.like(changed, { name: 'Shop 2', target_url: target, event_types: [] })
  t.not(changed['updated_at'], shown['updated_at'])
  t.deepEqual(await rest.must('PATCH', `/v1/webhooks/${String(id)}`, {}), changed)
  const rotated = await rest.must('POST', `/v1/webhooks/${String(id)}/rotate-secret`)
  t.regex(String(rotated['hmac_secret']), /^whsec_/)
  t.not(rotated['hmac_secret'], hmac_secret)
  for (let times = 0; times < 2; times++) t.is((await rest.call('DELETE', `/v1/webhooks/${String(id)}`)).status, 204)
  t.is((await rest.call('GET', `/v1/webhooks/${String(id)}`)).status, 404)
  t.is((await rest.call('GET', `/v1/webhooks/${String(id)}/attempts`)).status, 404)
  const acts = ((await rest.must('GET', '/v1/audit?act=webhook_endpoint'))['data'] as Row[]).map(({ act }) => act)
  t.deepEqual(
    acts,
    ['deleted', 'secret_rotated', 'updated', 'created', 'created'].map((verb) => `webhook_endpoint.${verb}`),
  )
})

test('a forbidden target is refused with the reason, on create and on update', async (t) => {
  const { rest } = await startFixture(t)
  const { id } = await rest.must('POST', '/v1/webhooks', { name: 'x', target_url: target })
  const inside = (allow: string): string =>
    `target_url: resolves to a loopback or private address that this service does not allow; to use it, start Postern with POSTERN_OUTBOUND_ALLOW=webhooks=${allow}:443`
  const table: readonly (readonly [string, RegExp | string])[] = [
    ['no address', /must be an https URL/],
    ['ftp://example.ch/', /must be an https URL/],
    ['javascript:alert(1)', /must be an https URL/],
    ['https://user:secret@example.ch/', /must not contain a user name or password/],
    ['https://example.ch/#part', /must not contain a fragment/],
    [`https://example.ch/${'x'.repeat(2040)}`, /must not be longer|at most|<=/i],
    ['https://inside.example.ch/', inside('ADDRESS')],
    ['https://10.0.0.1/', inside('10.0.0.1')],
    ['https://[::1]/', inside('[::1]')],
    ['https://[::ffff:10.0.0.1]/', inside('[::ffff:a00:1]')],
    ['https://0x7f.1.1.1/', inside('127.1.1.1')],
    ['https://2130706434/', inside('127.0.0.2')],
    ['https://169.254.169.254/latest/meta-data/', inside('169.254.169.254')],
    ['http://mail.example.ch/', /must begin with https:\/\/; http:\/\/ is allowed only in networks listed/],
    ['http://nowhere.example.ch/', /must begin with https/],
    ['http://mixed.example.ch/', /must begin with https/],
  ]
  for (const [target_url, message] of table) {
    for (const [method, path] of [
      ['POST', '/v1/webhooks'],
      ['PATCH', `/v1/webhooks/${String(id)}`],
    ] as const) {
      const answer = await rest.call(method, path, { name: 'x', target_url })
      t.is(answer.status, 400, target_url)
      if (typeof message === 'string') t.is(errorOf(answer).message, message, target_url)
      else t.regex(errorOf(answer).message, message, target_url)
    }
  }
  for (const target_url of [
    'https://mail.example.ch/',
    'https://broken.example.ch:8443/?a=b',
    'http://localhost:3000/hook',
    'http://127.0.0.1:9/',
  ])
    t.is((await rest.call('POST', '/v1/webhooks', { name: 'x', target_url })).status, 201, target_url)
  t.is((await rest.call('POST', '/v1/webhooks', { name: 'x', target_url: target, event_types: ['opened'] })).status, 400)
  t.is((await rest.call('POST', '/v1/webhooks', { name: '', target_url: target })).status, 400)
  t.is((await rest.call('POST', '/v1/webhooks', { target_url: target })).status, 400)
})

test('webhook: belongs to the project of the key, the named one, or the move target', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const home = await projectOf(fixture)
  const away = await fixture.addProject()
  const bound = await fixture.withKey(['api:admin'], away)
  const own = await bound.must('POST', '/v1/webhooks', { name: 'Own', target_url: target })
  const named = await rest.must('POST', '/v1/webhooks', { name: 'Named', target_url: target, project_id: away })
  const other = await rest.must('POST', '/v1/webhooks', { name: 'Home', target_url: target })
  t.deepEqual([own['project_id'], named['project_id'], other['project_id']], [away, away, home])
  const ids = async (client: typeof rest, query = ''): Promise<unknown[]> =>
    ((await client.must('GET', `/v1/webhooks${query}`))['data'] as Row[]).map(({ id }) => id)
  t.deepEqual(await ids(rest), [other['id'], named['id'], own['id']])
  t.deepEqual(await ids(rest, `?project=${away}`), [named['id'], own['id']])
  t.deepEqual(await ids(bound), [named['id'], own['id']])
  t.is((await rest.call('GET', '/v1/webhooks?project=prj_none')).status, 404)
  t.is((await bound.call('POST', '/v1/webhooks', { name: 'x', target_url: target, project_id: home })).status, 404)
  t.is((await bound.call('PATCH', `/v1/webhooks/${String(own['id'])}`, { project_id: home })).status, 404)
  await announceIn(fixture, away)
  t.like(await rest.must('PATCH', `/v1/webhooks/${String(own['id'])}`, { project_id: home }), { project_id: home })
  t.deepEqual(await ids(bound), [named['id']])
  t.is((await bound.call('GET', `/v1/webhooks/${String(own['id'])}/attempts`)).status, 404)
  const [attempt] = (await rest.must('GET', `/v1/webhooks/${String(own['id'])}/attempts`))['data'] as Row[]
  t.is(attempt?.['project_id'], away, 'earlier events belong to the project of the message')
  t.is((await bound.call('GET', `/v1/webhooks/attempts/${String(attempt?.['id'])}`)).status, 200)
  t.is((await bound.call('POST', `/v1/webhooks/attempts/${String(attempt?.['id'])}/redeliver`)).status, 404)
  const homeKey = await fixture.withKey(['api:admin'], home)
  t.deepEqual((await homeKey.must('GET', `/v1/webhooks/${String(own['id'])}/attempts`))['data'], [])
})

test('attempts are listed by endpoint, project and status, and show the answer of each try', async (t) => {
  const fixture = await startFixture(t)
  const { rest, clock, webhookDispatcher } = fixture
  const project = await projectOf(fixture)
  const good = await secureReceiverOf(t, { answer: (response) => response.writeHead(200).end('thanks') })
  const bad = await secureReceiverOf(t, {
    answer: (response) => response.writeHead(500, { 'content-type': 'text/html' }).end(`<b>no</b>\u0000\u001b[2J${'ä'.repeat(4000)}`),
  })
  const { id: a } = await rest.must('POST', '/v1/webhooks', { name: 'Good', target_url: good.url })
  const { id: b } = await rest.must('POST', '/v1/webhooks', { name: 'Bad', target_url: bad.url })
  await webhookDispatcher.start()
  await announceIn(fixture, project, 5)
  await webhookDispatcher.idle()
  const listed = async (path: string): Promise<Row[]> => Array.fromAsync(rest.rows(path, 2))
  const rows = await listed(`/v1/webhooks/${String(b)}/attempts`)
  t.is(rows.length, 5)
  t.like(rows[0], {
    endpoint_id: b,
    event_type: 'failed',
    status: 'failed',
    attempt_count: 1,
    last_status_code: 500,
    last_error: 'The receiver returned status 500.',
    next_attempt_at: new Date(clock.now() + 60_000).toISOString(),
    project_id: project,
  })
  t.deepEqual(await listed(`/v1/webhooks/attempts?endpoint_id=${String(b)}`), rows)
  t.is((await listed('/v1/webhooks/attempts')).length, 10)
  t.is((await listed(`/v1/webhooks/attempts?project=${project}`)).length, 10)
  t.is((await listed(`/v1/webhooks/attempts?project=${await fixture.addProject()}`)).length, 0)
  t.deepEqual(new Set((await listed('/v1/webhooks/attempts?status=succeeded')).map(({ endpoint_id }) => endpoint_id)), new Set([a]))
  t.is((await listed(`/v1/webhooks/${String(a)}/attempts?status=parked`)).length, 0)
  const ofTrace = `/v1/webhooks/attempts?trace_id=${String(rows[0]?.['trace_id'])}`
  t.deepEqual(column(await listed(ofTrace), 'endpoint_id'), [b, a])
  t.deepEqual(await listed(`${ofTrace}&status=failed&endpoint_id=${String(b)}`), [rows[0]])
  t.deepEqual(
    await listed(`/v1/webhooks/${String(b)}/attempts?status_code=500&event_type=failed`),
    rows.filter(({ event_type }) => event_type === 'failed'),
  )
  t.is((await listed(`/v1/webhooks/${String(b)}/attempts?status_code=200`)).length, 0)
  t.is((await rest.call('GET', '/v1/webhooks/attempts?status_code=20')).status, 400)
  const figures = await figuresOf(fixture)
  t.like(figures.get(a), { succeeded: 5, failed: 0, parked: 0 })
  t.like(figures.get(b), { succeeded: 0, failed: 5, parked: 0 })
  t.is((await rest.call('GET', '/v1/webhooks/attempts?status=open')).status, 400)
  t.is((await rest.call('GET', '/v1/webhooks/attempts?endpoint_id=whk_none')).status, 404)
  const { id, ...row } = rows[0]!
  const { attempts, body, ...detail } = (await rest.must('GET', `/v1/webhooks/attempts/${String(id)}`)) as Row & { attempts: Row[] }
  t.deepEqual(detail, { id, ...row })
  t.notThrows(() => webhookEventShape.parse(JSON.parse(String(body))))
  t.like(attempts, [{ number: 1, status_code: 500, error: 'The receiver returned status 500.', at: new Date(clock.now()).toISOString() }])
  const said = String(attempts[0]?.['response_body'])
  t.regex(said, /^<b>no<\/b>\ufffd\ufffd\[2Jä+$/)
  t.true(Buffer.byteLength(said) <= 4096 + 4)
  bad.answer = (response) => response.writeHead(200).end()
  t.like(await rest.must('POST', `/v1/webhooks/attempts/${String(id)}/redeliver`), {
    id,
    delivery_id: row['delivery_id'],
    status: 'pending',
  })
  await webhookDispatcher.idle()
  t.like(await rest.must('GET', `/v1/webhooks/attempts/${String(id)}`), { status: 'succeeded', attempt_count: 2, last_error: null })
  t.is((await rest.call('POST', '/v1/webhooks/attempts/wha_none/redeliver')).status, 404)
})

/** Returns the figures of the last day by endpoint. */
async function figuresOf({ rest }: Fixture): Promise<ReadonlyMap<unknown, object>> {
  const { data } = await rest.must('GET', '/v1/insights/webhook-endpoints')
  return new Map((data as { endpoint_id: string; totals: object }[]).map(({ endpoint_id: id, totals }) => [id, totals]))
}

test('attempts of the last day have timings for every answer, unless nothing was sent', async (t) => {
  const fixture = await startFixture(t)
  const { rest, clock, webhookDispatcher } = fixture
  const project = await projectOf(fixture)
  await webhookDispatcher.start()
  const took = [300, 20, 20, 20]
  const slow = await secureReceiverOf(t, {
    answer: (response) => {
      clock.advance(took.pop() ?? 0)
      response.writeHead(took.length === 3 ? 500 : 200).end()
    },
  })
  const { id } = await rest.must('POST', '/v1/webhooks', { name: 'Slow', target_url: slow.url, event_types: ['failed'] })
  const calls = took.length
  for (let sent = 0; sent < calls; sent++) {
    await announceIn(fixture, project)
    await webhookDispatcher.idle()
  }
  const waiting = { name: 'Silent', target_url: slow.url, event_types: ['auto_suppressed'], paused: true }
  const silent = await rest.must('POST', '/v1/webhooks', waiting)
  await announceIn(fixture, project, 1, 'auto_suppressed')
  await rest.must('PATCH', `/v1/webhooks/${String(silent['id'])}`, { format: 'brevo', paused: false })
  await webhookDispatcher.idle()
  t.is(slow.received.length, calls)
  const figures = await figuresOf(fixture)
  t.deepEqual(figures.get(id), { succeeded: 3, failed: 1, parked: 0, p50_ms: 20, p95_ms: 346 }, 'buckets grow by half')
  t.like(figures.get(silent['id']), { succeeded: 0, failed: 1, p50_ms: null, p95_ms: null }, 'brevo has no such event')
  t.like((await rest.must('GET', '/v1/insights/webhooks'))['totals'], { succeeded: 3, p50_ms: 20, p95_ms: 346 })
})

test('last_error names the next step', async (t) => {
  const fixture = await startFixture(t)
  const { rest, webhookDispatcher } = fixture
  const project = await projectOf(fixture)
  const moved = await secureReceiverOf(t, {
    answer: (response) => response.writeHead(301, { location: 'https://elsewhere.example.ch/' }).end(),
  })
  const early = await secureReceiverOf(t, { answer: (_response, request) => request.socket.destroy() })
  await webhookDispatcher.start()
  const table = [
    [moved.url, /returned status 301: redirects are not followed; set target_url/],
    [early.url, /closed the connection without an answer/],
    ['https://127.0.0.1:1/', /refused the connection/],
    ['https://nowhere.example.ch/', /host name has no address/],
    ['https://broken.example.ch/', /The DNS lookup timed out/],
  ] as const
  for (const [target_url, message] of table) {
    const { id } = await rest.must('POST', '/v1/webhooks', { name: 'x', target_url })
    await announceIn(fixture, project)
    await webhookDispatcher.idle()
    const [attempt] = (await rest.must('GET', `/v1/webhooks/${String(id)}/attempts`))['data'] as Row[]
    t.regex(String(attempt?.['last_error']), message)
    await rest.call('DELETE', `/v1/webhooks/${String(id)}`)
  }
})

test('a test sends a real event immediately, returns the answer and stores nothing', async (t) => {
  const { rest } = await startFixture(t)
  const receiver = await secureReceiverOf(t, { answer: (response) => response.writeHead(202).end('thank you') })
  const made = await rest.must('POST', '/v1/webhooks', { name: 'x', target_url: receiver.url, event_types: ['bounced'] })
  const path = `/v1/webhooks/${String(made['id'])}`
  const secret = String(made['hmac_secret'])
  const told = await rest.must('POST', `${path}/test`)
  t.like(told, { delivered: true, status_code: 202, error: null, response_body: 'thank you' })
  for (const event_type of webhookEventTypes) t.like(await rest.must('POST', `${path}/test`, { event_type }), { delivered: true })
  t.is(receiver.received.length, 1 + webhookEventTypes.length)
  for (const { headers, body } of receiver.received) {
    t.is(headers['x-service-signature'], `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
    t.like(webhookEventShape.parse(JSON.parse(body)), { test: true })
  }
  t.is(receiver.received[0]?.headers['x-service-delivery'], String(told['delivery_id']))
  t.is(receiver.received[0]?.body, String(told['body']))
  t.deepEqual((await rest.must('GET', `${path}/attempts`))['data'], [])
  receiver.answer = (response) => response.writeHead(404).end()
  t.like(await rest.must('POST', `${path}/test`), { delivered: false, status_code: 404, error: 'The receiver returned status 404.' })
  const held = Promise.withResolvers<void>()
  receiver.answer = (response) => void held.promise.then(() => response.writeHead(200).end())
  const slow = rest.call('POST', `${path}/test`)
  await receiver.hasReceived(3 + webhookEventTypes.length)
  t.deepEqual(refusal(await rest.call('POST', `${path}/test`)), [
    429,
    'rate_limit_exceeded',
    'A test of this endpoint is in progress; wait until it ends.',
  ])
  held.resolve()
  t.is((await slow).status, 200)
})

test('a project has at most 20 webhooks, also after moves', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const other = await rest.must('POST', '/v1/webhooks', { name: 'x', target_url: target, project_id: await fixture.addProject() })
  for (let n = 0; n < 20; n++) await rest.must('POST', '/v1/webhooks', { name: `n${n}`, target_url: target })
  const full = [409, 'conflict', 'A project can have at most 20 webhook endpoints; delete one first.'] as const
  t.deepEqual(refusal(await rest.call('POST', '/v1/webhooks', { name: 'x', target_url: target })), full)
  const path = `/v1/webhooks/${String(other['id'])}`
  t.deepEqual(refusal(await rest.call('PATCH', path, { project_id: await projectOf(fixture) })), full)
})

test('the OpenAPI document describes each event as it is sent', async (t) => {
  const { rest } = await startFixture(t)
  const document = (await rest.must('GET', '/openapi.json')) as unknown as {
    webhooks: Record<string, { post: { parameters: { name: string }[]; requestBody: { content: Record<string, { schema: object }> } } }>
    components: { schemas: Record<string, { properties: object }> }
  }
  t.deepEqual(Object.keys(document.webhooks), [...webhookEventTypes, 'inbound_message', 'alert', 'form_submission'])
  const { parameters, requestBody } = document.webhooks['bounced']!.post
  t.deepEqual(column(parameters, 'name'), [
    'X-Service-Signature',
    'X-Service-Delivery',
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
  ])
  t.deepEqual(requestBody.content['application/json']?.schema, { $ref: '#/components/schemas/WebhookEvent' })
  t.deepEqual(Object.keys(document.components.schemas['WebhookEvent']!.properties), ['id', 'type', 'created_at', 'test', 'data'])
})

test('a paused webhook stores events as pending attempts, accepts tests and resumes', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const receiver = await secureReceiverOf(t)
  await fixture.webhookDispatcher.start()
  const { id } = await rest.must('POST', '/v1/webhooks', { name: 'Shop', target_url: receiver.url })
  const path = `/v1/webhooks/${String(id)}`
  t.like(await rest.must('GET', path), { paused: false, paused_at: null })
  t.like(await rest.must('PATCH', path, { paused: true }), { paused: true, paused_at: new Date(fixture.clock.now()).toISOString() })
  await announceIn(fixture, await projectOf(fixture), 2)
  await fixture.webhookDispatcher.idle()
  t.is(receiver.received.length, 0)
  const waiting = { status: 'pending', attempt_count: 0, paused: true, next_attempt_at: null }
  const [row, ...others] = (await rest.must('GET', `${path}/attempts?status=pending`))['data'] as Row[]
  t.like([row, ...others], [waiting, waiting])
  t.like(await rest.must('GET', `/v1/webhooks/attempts/${String(row?.['id'])}`), waiting)
  t.like(await rest.must('POST', `${path}/test`, {}), { delivered: true })
  t.is(receiver.received.length, 1)
  t.like(await rest.must('PATCH', path, { paused: false }), { paused: false, paused_at: null })
  await receiver.hasReceived(3)
  await fixture.webhookDispatcher.idle()
  const sent = { status: 'succeeded', attempt_count: 1, paused: false }
  t.like((await rest.must('GET', `${path}/attempts`))['data'], [sent, sent])
  t.like(await rest.must('POST', '/v1/webhooks', { name: 'Later', target_url: target, paused: true }), { paused: true })
  t.is((await rest.call('PATCH', path, { paused: 'yes' })).status, 400)
})

test('attempts of alert channels: empty for mail, and refused to a key of another scope', async (t) => {
  const fixture = await startFixture(t, { hasMail: true })
  const { rest } = fixture
  await fixture.addMember('owner@example.ch', 'owner')
  const project = await projectOf(fixture)
  const bound = await fixture.withKey(['api:read', 'api:admin'], project)
  const make = async (client: typeof rest, kind: string, address: object): Promise<string> =>
    String((await client.must('POST', '/v1/alert-channels', { kind, name: kind, target: address }))['id'])
  const mail = await make(rest, 'mail', { address: 'owner@example.ch' })
  const shared = await make(rest, 'slack', { url: target })
  const own = await make(bound, 'slack', { url: target })
  const attempts = (client: typeof rest, id: string) => client.call('GET', `/v1/alert-channels/${id}/attempts`)
  for (const [client, id] of [
    [rest, mail],
    [bound, mail],
    [rest, 'members'],
    [rest, shared],
    [bound, own],
  ] as const)
    t.is((await attempts(client, id)).status, 200, id)
  const { database } = fixture.daemon.part('core')
  for (const [id, projectId] of [
    [shared, ''],
    [own, project],
  ] as const) {
    const change = new Change()
    const facts = { id: 'evt_1', at: fixture.clock.now(), organization: { id: fixture.organizationId, name: 'Bellevue' } }
    const body = JSON.stringify(testEvent({ ...facts, url: 'https://post.example.ch', language: 'en' }))
    const made = { traceId: null, eventId: 'evt_1', eventType: 'alert' as const, body, at: facts.at }
    addDelivery(database, change, fixture.organizationId, { ...made, endpointId: id, projectId })
    await database.commit(change)
  }
  t.like((await rest.must('GET', `/v1/alert-channels/${shared}/attempts`))['data'], [{ project_id: null }])
  t.like((await rest.must('GET', `/v1/alert-channels/${own}/attempts`))['data'], [{ project_id: project }])
  const [status, code, message] = refusal(await attempts(bound, shared))
  t.deepEqual([status, code], [403, 'insufficient_scope'])
  t.regex(message, /belongs to the organization/)
  t.deepEqual(refusal(await attempts(rest, 'alc_0')), [404, 'not_found', 'No alert channel has this id.'])
})
