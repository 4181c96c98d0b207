/** Publishable keys over REST: creation, and each check of a send from a web page in order. */
import { request } from 'node:http'
import test from '#test'
import { usageCounter } from '#core/tenancy/counters.ts'
import { pack } from '#store/tuple.ts'
import { codeOf, firstField, origin, page, plain, publishableFixture, tracesOf } from '../fixture/publishable-page.ts'
import { errorOf, objectOf, refusal, startFixture } from '../fixture/rest-fixture.ts'

test('a publishable key sends from its page; trace and usage record it', async (t) => {
  const { send, rest, id, database, organizationId, clock } = await publishableFixture(t)
  const answer = await send()
  t.is(answer.status, 200)
  t.is(answer.headers['access-control-allow-origin'], origin)
  t.is(answer.headers['vary'], 'Origin')
  t.is(answer.headers['access-control-allow-credentials'], undefined)
  const [trace] = await tracesOf(rest)
  t.like(trace, { door: 'publishable_key', submitted_by: id, from: 'form@example.ch' })
  const shown = await rest.must('GET', `/v1/traces/${String(objectOf(answer)['trace_id'])}`)
  t.regex(JSON.stringify(shown), /Accepted by a publishable key/)
  const month = new Date(clock.now()).toISOString().slice(0, 7)
  t.is(await database.kv.counter(pack(usageCounter(organizationId, 'pk_sends', month))), 1)
})

test('createPublishableKey shows the token once, with the effective constraints', async (t) => {
  const { rest } = await startFixture(t)
  const body = {
    ...page,
    allowed_origins: ['HTTPS://Shop.Example.ch/', 'http://localhost:5173'],
    allowed_to: ['Ada@Example.ch', '@Bücher.example'],
  }
  const minted = await rest.must('POST', '/v1/publishable-keys', {
    ...body,
    name: 'Shop',
    rate_preset: 'strict',
    rates: { per_key_day: 0 },
  })
  t.like(minted, {
    allowed_origins: ['https://shop.example.ch', 'http://localhost:5173'],
    allowed_to: ['ada@example.ch', '@xn--bcher-kva.example'],
    rates: { per_ip_hour: 3, per_recipient_hour: 9, per_key_hour: 90, per_key_day: 0 },
    captcha_provider: null,
    status: 'active',
  })
  const token = String(minted['raw_token'])
  t.regex(token, /^svcpub_eyJ[\w-]+\.[\w-]+\.[\w-]+$/)
  const read = await rest.must('GET', `/v1/publishable-keys/${String(minted['id'])}`)
  t.is(read['raw_token'], undefined)
  t.is(read['key_preview'], `svcpub_…${token.slice(-4)}`)
  t.deepEqual((await rest.must('GET', '/v1/publishable-keys'))['data'], [read])
  const loose = await rest.must('POST', '/v1/publishable-keys', {
    ...page,
    rate_preset: 'loose',
    captcha_provider: null,
    captcha_site_key: null,
  })
  t.deepEqual(loose['rates'], { per_ip_hour: 20, per_recipient_hour: 60, per_key_hour: 600, per_key_day: 2000 })
})

for (const [what, changes, path] of [
  ['an origin with http', { allowed_origins: ['http://shop.example.ch'] }, 'allowed_origins[0]'],
  ['an origin with a path', { allowed_origins: [`${origin}/contact`] }, 'allowed_origins[0]'],
  ['a wildcard', { allowed_origins: ['https://*.example.ch'] }, 'allowed_origins[0]'],
  ['the origin null', { allowed_origins: ['null'] }, 'allowed_origins[0]'],
  ['no origin', { allowed_origins: [] }, 'allowed_origins'],
  ['an empty list of recipients', { allowed_to: [] }, 'allowed_to'],
  ['a recipient pattern without a domain', { allowed_to: ['@'] }, 'allowed_to[0]'],
  ['two recipients in one entry', { allowed_to: ['a@b.ch, c@d.ch'] }, 'allowed_to[0]'],
  ['no sender', { locked_from: 'form' }, 'locked_from'],
  ['a captcha without a secret', { captcha_provider: 'turnstile' }, 'captcha_secret'],
  ['a secret without a captcha', { captcha_secret: 'x' }, 'captcha_secret'],
] as const)
  test(`createPublishableKey refuses ${what}`, async (t) => {
    const { rest } = await startFixture(t)
    const answer = await rest.call('POST', '/v1/publishable-keys', { ...page, ...changes })
    t.is(answer.status, 400)
    t.is(firstField(answer), path)
  })

test('each check refuses with its code and details, and a refused send leaves no trace', async (t) => {
  // Two requests pass all checks of the key, fail validation, and count for the window.
  const { send, rest, database, organizationId, clock } = await publishableFixture(t, { rates: { per_key_hour: 3 } })
  const wrong = async (body: object, headers = {}) => {
    const answer = await send(body, headers)
    const { code, details } = errorOf(answer)
    return [answer.status, code, details]
  }
  t.deepEqual(await wrong({}, { origin: 'https://evil.example' }), [403, 'origin_not_allowed', { allowed_origins: [origin] }])
  const others = { allowed_to: page.allowed_to }
  for (const field of ['to', 'cc', 'bcc'])
    t.deepEqual(await wrong({ [field]: ['ada@example.ch', 'eve@example.ch'] }), [403, 'recipient_not_allowed', others], field)
  t.deepEqual(await wrong({ to: 'x@sub.team.example.ch' }), [403, 'recipient_not_allowed', others])
  const locked = { locked_from: 'form@example.ch' }
  t.deepEqual(await wrong({ from: 'boss@example.ch' }), [403, 'from_locked', locked])
  t.deepEqual(await wrong({ from: 'Your bank <form@example.ch>' }), [403, 'from_locked', locked])
  const attachments = [{ filename: 'a.txt', content: 'YQ==', content_type: 'text/plain' }]
  t.deepEqual((await wrong({ attachments })).slice(0, 2), [403, 'attachments_not_allowed'])
  t.deepEqual((await wrong({ destination_id: 'dst_1' })).slice(0, 2), [400, 'validation_failed'])
  t.deepEqual((await wrong({ project_id: 'prj_1' })).slice(0, 2), [400, 'validation_failed'])
  t.deepEqual(await tracesOf(rest), [])
  const month = new Date(clock.now()).toISOString().slice(0, 7)
  t.is(await database.kv.counter(pack(usageCounter(organizationId, 'pk_sends', month))), 0)
  t.is(codeOf(await send()), 200, 'one send of the hour remains')
  t.is(codeOf(await send()), '429 rate_limit_exceeded')
})

test('the first failing check decides the error', async (t) => {
  const { send } = await publishableFixture(t, { rates: { per_key_hour: 1 }, captcha_provider: 'turnstile', captcha_secret: 'x' })
  const attachments = [{ filename: 'a.txt', content: 'YQ==', content_type: 'text/plain' }]
  const all = { to: 'eve@example.ch', from: 'boss@example.ch', attachments }
  t.is(codeOf(await send({ nonsense: true }, { origin: 'https://evil.example' })), '403 origin_not_allowed')
  t.is(codeOf(await send(all)), '403 recipient_not_allowed')
  t.is(codeOf(await send({ ...all, to: plain.to })), '403 from_locked')
  t.is(codeOf(await send({ attachments })), '403 attachments_not_allowed')
  t.is(codeOf(await send()), '400 captcha_required')
})

test('addresses match in any case, domain patterns match, and from has a default', async (t) => {
  const { send, rest } = await publishableFixture(t)
  t.is(codeOf(await send({ to: 'ADA@Example.CH', cc: ['anybody@team.example.ch'], from: 'FORM@example.ch' })), 200)
  t.is(codeOf(await send({ from: undefined })), 200)
  for (const { from } of await tracesOf(rest)) t.is(from, 'form@example.ch')
})

test('CORS: pages read each answer of their key, and pages of other origins read the refusal', async (t) => {
  const { address, send, rest } = await publishableFixture(t)
  const preflight = (from: string) =>
    fetch(`http://${address}/v1/messages`, {
      method: 'OPTIONS',
      headers: { origin: from, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
    })
  const asked = await preflight(origin)
  t.is(asked.status, 204)
  t.is(asked.headers.get('access-control-allow-origin'), origin)
  t.is(asked.headers.get('vary'), 'Origin')
  t.is(asked.headers.get('access-control-allow-methods'), 'POST')
  for (const name of ['authorization', 'content-type', 'x-service-captcha-token', 'idempotency-key'])
    t.true(asked.headers.get('access-control-allow-headers')?.split(', ').includes(name), name)
  for (const none of ['https://a.ch/path', 'https://a.ch, https://b.ch', 'file://', 'HTTPS://A.CH', '*'])
    t.is((await preflight(none)).headers.get('access-control-allow-origin'), null, none)

  // `null` is the origin of files and of sandboxed frames, which many site builders use for pasted snippets.
  for (const other of ['https://evil.example', 'http://shop.example.ch', 'http://localhost:5173', 'http://127.0.0.1:5173', 'null']) {
    t.is((await preflight(other)).headers.get('access-control-allow-origin'), other)
    const foreign = await send({}, { origin: other })
    t.is(codeOf(foreign), '403 origin_not_allowed', other)
    t.is(foreign.headers['access-control-allow-origin'], other)
    t.is(foreign.headers['access-control-allow-credentials'], undefined)
  }
  for (const body of [{ text: undefined }, { to: 'eve@example.ch' }, { text: 'x'.repeat(70_000) }]) {
    const answer = await send(body)
    t.true(answer.status >= 400)
    t.is(answer.headers['access-control-allow-origin'], origin)
    t.is(answer.headers['vary'], 'Origin')
  }
  const withApiKey = await rest.call('POST', '/v1/messages', plain, { origin })
  t.is(withApiKey.headers['access-control-allow-origin'], undefined, 'API keys are not for pages')
  const elsewhere = await rest.call('GET', '/v1/traces', undefined, { origin })
  t.is(elsewhere.headers['access-control-allow-origin'], undefined)
})

test('a send without an Origin header is refused: the key is for pages', async (t) => {
  const { client, token } = await publishableFixture(t)
  t.is(codeOf(await client(token).call('POST', '/v1/messages', plain)), '403 origin_not_allowed')
})

test('bodies above 65536 bytes are refused before parsing', async (t) => {
  const { send, address, token } = await publishableFixture(t)
  const answer = await send({ text: 'x'.repeat(65_536) })
  t.is(codeOf(answer), '413 request_too_large')
  t.is(errorOf(answer).details?.['max_bytes'], 65_536)
  const room = 65_536 - Buffer.byteLength(JSON.stringify({ ...plain, text: '' }))
  t.is(codeOf(await send({ text: 'x'.repeat(room) })), 200)
  const broken = await streamed(address.split(':').at(-1) ?? '', token, '{'.repeat(65_537))
  t.is(broken, 413, 'a body of unknown length has the same limit, regardless of its content')
})

const streamed = (port: string, token: string, text: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, origin, 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
    const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/v1/messages', headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sent.on('error', reject)
    sent.end(text)
  })

test('of 60 concurrent sends, a window of 20 lets exactly 20 pass', async (t) => {
  const { send, rest } = await publishableFixture(t, { rates: { per_ip_hour: 0, per_recipient_hour: 0, per_key_hour: 20 } })
  const answers = await Promise.all(Array.from({ length: 60 }, () => send()))
  t.is(answers.filter(({ status }) => status === 200).length, 20)
  t.is((await tracesOf(rest)).length, 20)
  for (const answer of answers.filter(({ status }) => status !== 200)) t.is(codeOf(answer), '429 rate_limit_exceeded')
})

test('each window counts separately and admits a send again after Retry-After', async (t) => {
  const { send, clock } = await publishableFixture(t, { rates: { per_ip_hour: 2, per_recipient_hour: 3, per_key_hour: 4, per_key_day: 5 } })
  const from = (address: string) => ({ 'x-forwarded-for': address })
  t.is(codeOf(await send({}, from('192.0.2.1'))), 200)
  t.is(codeOf(await send({}, from('192.0.2.1'))), 200)
  const perIp = await send({}, from('192.0.2.1'))
  t.deepEqual(refusal(perIp), [
    429,
    'rate_limit_exceeded',
    'This key allows 2 sends per hour from one network address; wait and send again.',
  ])
  const seconds = Number(perIp.headers['retry-after'])
  t.is(errorOf(perIp).details?.['retry_after_seconds'], seconds)
  t.true(seconds > 3600 - 300 && seconds <= 3600 + 300, String(seconds))
  t.is(codeOf(await send({}, from('192.0.2.2'))), 200)
  t.regex(errorOf(await send({}, from('192.0.2.3'))).message, /to one recipient/)
  t.is(codeOf(await send({ to: 'b@team.example.ch' }, from('192.0.2.3'))), 200)
  t.regex(errorOf(await send({ to: 'c@team.example.ch' }, from('192.0.2.4'))).message, /4 sends per hour;/)
  clock.advance(seconds * 1000 - 1000)
  t.is(codeOf(await send({ to: 'c@team.example.ch' }, from('192.0.2.5'))), '429 rate_limit_exceeded')
  clock.advance(1000)
  t.is(codeOf(await send({ to: 'c@team.example.ch' }, from('192.0.2.5'))), 200)
  t.regex(errorOf(await send({ to: 'd@team.example.ch' }, from('192.0.2.6'))).message, /5 sends per day/)
  clock.advance(26 * 3_600_000)
  t.is(codeOf(await send()), 200)
})

test('each recipient of a copy counts, and an IPv6 /64 counts as one address', async (t) => {
  const { send } = await publishableFixture(t, { rates: { per_ip_hour: 3, per_recipient_hour: 2 } })
  const from = (address: string) => ({ 'x-forwarded-for': address })
  t.is(codeOf(await send({ bcc: 'b@team.example.ch' }, from('2001:db8:1:2::1'))), 200)
  t.is(codeOf(await send({ cc: 'B@team.example.ch', to: 'c@team.example.ch' }, from('2001:db8:1:2::2'))), 200)
  t.is(codeOf(await send({ to: 'b@team.example.ch' }, from('2001:db8:1:2::3'))), '429 rate_limit_exceeded')
  t.is(codeOf(await send({ to: 'd@team.example.ch' }, from('2001:db8:1:2:ffff::4'))), 200)
  t.regex(errorOf(await send({ to: 'e@team.example.ch' }, from('2001:db8:1:2::5'))).message, /network address/)
  t.is(codeOf(await send({ to: 'e@team.example.ch' }, from('2001:db8:1:3::5'))), 200)
})

test('a forged X-Forwarded-For changes no window', async (t) => {
  const { send } = await publishableFixture(t, { rates: { per_ip_hour: 2 } })
  // The trusted proxy appends the address that it saw to the received value.
  const seen = (forged: string) => ({ 'x-forwarded-for': `${forged}, 198.51.100.7` })
  t.is(codeOf(await send({}, seen('192.0.2.1'))), 200)
  t.is(codeOf(await send({}, seen('192.0.2.2'))), 200)
  t.is(codeOf(await send({}, seen('192.0.2.3, 192.0.2.4'))), '429 rate_limit_exceeded')
})

test('a rate of 0 means no limit', async (t) => {
  const none = { per_ip_hour: 0, per_recipient_hour: 0, per_key_hour: 0, per_key_day: 0 }
  const { send } = await publishableFixture(t, { rates: none })
  const answers = await Promise.all(Array.from({ length: 40 }, () => send()))
  t.true(answers.every(({ status }) => status === 200))
})

test('each publishable key has its own idempotency keys; a repeated send counts once', async (t) => {
  const { send, rest } = await publishableFixture(t, { rates: { per_key_hour: 2 } })
  const own = await rest.must('POST', '/v1/messages', { ...plain, idempotency_key: 'order-1' })
  const first = await send({ idempotency_key: 'order-1' })
  t.not(objectOf(first)['trace_id'], own['trace_id'])
  const again = await send({}, { 'idempotency-key': 'order-1' })
  t.is(objectOf(again)['trace_id'], objectOf(first)['trace_id'])
  t.is(codeOf(await send()), 200)
  t.is(codeOf(await send()), '429 rate_limit_exceeded')
  t.is(objectOf(await send({ idempotency_key: 'order-1' }))['trace_id'], objectOf(first)['trace_id'], 'also when the window is full')
})

test('rotated and revoked tokens stop immediately; the windows of the key continue', async (t) => {
  const { send, rest, id, client } = await publishableFixture(t, { rates: { per_key_hour: 2 } })
  t.is(codeOf(await send()), 200)
  const rotated = await rest.must('POST', `/v1/publishable-keys/${id}/rotate`, { reason: 'on a mug' })
  t.is(codeOf(await send()), '401 invalid_key')
  const next = client(String(rotated['raw_token']))
  const sendNext = () => next.call('POST', '/v1/messages', plain, { origin })
  t.is(codeOf(await sendNext()), 200)
  t.is(codeOf(await sendNext()), '429 rate_limit_exceeded')
  t.is((await rest.must('DELETE', `/v1/publishable-keys/${id}?reason=over`))['status'], 'revoked')
  t.is(codeOf(await sendNext()), '401 invalid_key')
  t.is((await rest.must('DELETE', `/v1/publishable-keys/${id}`))['status'], 'revoked')
  t.is(codeOf(await rest.call('POST', `/v1/publishable-keys/${id}/rotate`)), '409 conflict')
  const acts = (await rest.must('GET', `/v1/audit?target=${id}`))['data'] as { act: string; details: Record<string, unknown> }[]
  t.deepEqual(
    acts.map(({ act, details }) => [act, details['reason']]),
    [
      ['publishable_key.revoked', 'over'],
      ['publishable_key.rotated', 'on a mug'],
      ['publishable_key.minted', undefined],
    ],
  )
})

test('invalid tokens are invalid_key; tokens of another kind are key_kind_mismatch', async (t) => {
  const { token, client, accessTokens, organizationId, rest } = await publishableFixture(t)
  const with_ = async (text: string) => {
    const answer = await client(text).call('POST', '/v1/messages', plain, { origin })
    return [codeOf(answer), answer.headers['www-authenticate']] as const
  }
  const [head = '', body = '', signature = ''] = token.split('.')
  const forged = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), jti: 'x' })).toString('base64url')
  const unsigned = Buffer.from('{"alg":"none"}').toString('base64url')
  for (const bad of [
    'svcpub_',
    `svcpub_${'a'.repeat(43)}`,
    `${head}.${body}.${signature.slice(0, -4)}AAAA`,
    `${head}.${forged}.${signature}`,
    `svcpub_${unsigned}.${body}.`,
    `${token}.x`,
    `${token} x`,
    `${token}\u00e4`,
    `svcpub_${'a'.repeat(5000)}`,
  ])
    t.deepEqual(await with_(bad), ['401 invalid_key', 'Bearer error="invalid_token"'], bad)
  const projectId = String((await rest.must('GET', '/v1/projects/me'))['project_id'])
  const facts = { grantId: 'g', organizationId, projectId, userId: null, clientId: 'c', scopes: ['api:send'] as const }
  const access = await accessTokens.issue('rest', facts)
  t.is((await with_(`svcpub_${access}`))[0], '401 key_kind_mismatch')
})

test('a publishable key is refused on all other routes', async (t) => {
  const { operations, client, token } = await publishableFixture(t)
  const page_ = client(token)
  const asked = operations.filter(({ scope, operationId }) => scope !== 'none' && operationId !== 'sendMessage')
  t.true(asked.length > 80)
  for (const { method, path, operationId } of asked) {
    const { status } = await page_.call(method, path.replaceAll(/\{\w+\}/g, 'x'), method === 'GET' ? undefined : {}, { origin })
    t.is(status, /^callMcp$|BySes/.test(operationId) ? 403 : 401, `${operationId}, from a page of another origin`)
  }
})

test('a publishable key is refused with the flag off and after its project is deleted', async (t) => {
  const { send, operator, organizationId, rest, client } = await publishableFixture(t)
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/flags`, { publishable_keys: false })
  const off = await send()
  t.is(codeOf(off), '503 feature_unavailable')
  t.is(off.headers['access-control-allow-origin'], origin)
  t.is(codeOf(await rest.call('GET', '/v1/publishable-keys')), '403 feature_disabled')
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/flags`, { publishable_keys: true })
  t.is(codeOf(await send()), 200)
  const { id } = await rest.must('POST', '/v1/projects', { name: 'Other' })
  const minted = await rest.must('POST', '/v1/publishable-keys', { ...page, project_id: id })
  await rest.must('DELETE', `/v1/projects/${String(id)}`)
  const answer = await client(String(minted['raw_token'])).call('POST', '/v1/messages', plain, { origin })
  t.is(codeOf(answer), '401 invalid_key')
})
