import test from '#test'
import { Refusal } from '#core/refusals.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import { noBody } from '../../../admin-api/operation/answer.ts'
import { operation, type Operation } from '../../../admin-api/operation/operation.ts'
import { call, demoOperations, errorOf, heldNotes, isWhole, keyOf, open, receive, startDemo, waitingOperation } from './demo-api.ts'
import { column } from '../../support/column.ts'

test('AdminApi answers a valid request with the wire object, a request id and safe headers', async (t) => {
  const { port, answered } = await startDemo(t)
  const reply = await call(port, 'POST', '/v1/notes', { key: 'api:send', body: { text: 'hello' } })
  t.is(reply.status, 201)
  t.deepEqual(JSON.parse(reply.text), { id: 'n_1', text: 'hello' })
  t.is(reply.headers['content-type'], 'application/json')
  t.is(reply.headers['cache-control'], 'no-store')
  t.is(reply.headers['x-content-type-options'], 'nosniff')
  t.regex(String(reply.headers['content-security-policy']), /frame-ancestors 'none'/)
  const line = answered[0]
  t.like(line, { operationId: 'createNote', method: 'POST', status: 201, code: undefined, grantId: 'key_1' })
  t.is(line?.requestId, String(reply.headers['x-request-id']))
})

test('AdminApi gives every answer a different request id', async (t) => {
  const { port } = await startDemo(t)
  const replies = await Promise.all(['/healthz', '/nowhere', '/v1/notes', '/v1/notes'].map((path) => call(port, 'GET', path)))
  const ids = replies.map((reply) => reply.headers['x-request-id'])
  t.is(new Set(ids).size, 4)
  t.true(ids.every((id) => /^req_[\w-]{9,}$/.test(String(id))))
})

test('AdminApi returns the error envelope for an unknown route and an unsupported method', async (t) => {
  const { port, answered } = await startDemo(t)
  const missing = await call(port, 'GET', '/v1/nothing?x=1')
  t.is(missing.status, 404)
  t.deepEqual(errorOf(missing), {
    code: 'not_found',
    message: 'Nothing is served at this address; /openapi.json lists all addresses.',
    next_action: 'check_id',
  })
  const wrong = await call(port, 'PATCH', '/v1/notes/n_1', { body: { any: 'thing' } })
  t.is(wrong.status, 405)
  t.is(wrong.headers.allow, 'GET, HEAD, DELETE')
  t.like(errorOf(wrong), { code: 'method_not_allowed', message: 'This address accepts GET, HEAD, DELETE.' })
  t.deepEqual(column(answered, 'operationId'), ['nothingThere', 'wrongMethod'])
  const broken = await call(port, 'GET', '/v1/notes/%zz', { key: 'api:read' })
  t.is(broken.status, 400)
  t.like(errorOf(broken), { code: 'validation_failed', message: 'path: has a broken percent escape' })
})

test('AdminApi answers HEAD with the headers of GET', async (t) => {
  const { port } = await startDemo(t)
  for (const path of ['/v1/notes/n_1', '/v1/notes/stream/raw', '/v1/notes/n_1/raw']) {
    const reply = await call(port, 'HEAD', path, { key: 'api:read' })
    t.is(reply.status, 200)
    t.is(reply.text, '')
  }
})

test('AdminApi decodes path values and validates query fields', async (t) => {
  const { port } = await startDemo(t)
  const read = await call(port, 'GET', '/v1/notes/a%2Fb', { key: 'api:admin' })
  t.deepEqual(JSON.parse(read.text), { id: 'a/b', text: 'key_1' })
  const listed = await call(port, 'GET', '/v1/notes?limit=7&cursor=abc-_1', { key: 'api:read' })
  t.deepEqual(JSON.parse(listed.text), { data: [{ id: 'limit 7', text: 'abc-_1' }], next_cursor: null })
  const mistyped = await call(port, 'GET', '/v1/notes?statuss=open&limit=7&limit=8', { key: 'api:read' })
  t.is(mistyped.status, 400)
  t.deepEqual(errorOf(mistyped).details, {
    fields: [
      { path: 'statuss', message: 'is not a known field; did you mean status?' },
      { path: 'limit', message: 'expected text, got a list' },
    ],
  })
  const onPlain = await call(port, 'GET', '/v1/notes/n_1?x=1', { key: 'api:read' })
  t.is(errorOf(onPlain).message, 'x: is not a known field')
})

test('AdminApi requires a key, and refuses a wrong key and a missing scope', async (t) => {
  const { port } = await startDemo(t)
  const none = await call(port, 'GET', '/v1/notes')
  t.is(none.status, 401)
  t.is(none.headers['www-authenticate'], 'Bearer')
  t.like(errorOf(none), { code: 'unauthorized', next_action: 'authenticate' })
  t.is(errorOf(none).message, 'Send your API key in the header "Authorization: Bearer <key>".')
  const unknown = await call(port, 'GET', '/v1/notes', { headers: { authorization: 'Bearer svckey_other' } })
  t.is(errorOf(unknown).message, 'This API key is not known.')
  const weak = await call(port, 'DELETE', '/v1/notes/n_1', { key: 'api:send' })
  t.is(weak.status, 403)
  t.like(errorOf(weak), { code: 'insufficient_scope', details: { required_scope: 'api:admin' } })
  t.is((await call(port, 'DELETE', '/v1/notes/n_1', { key: 'api:admin' })).status, 204)
})

test('AdminApi renders a refusal with Retry-After and hides internal errors', async (t) => {
  const { port, failures, answered } = await startDemo(t)
  const refused = await call(port, 'POST', '/v1/notes', { key: 'api:send', body: { text: 'refuse' } })
  t.is(refused.status, 429)
  t.is(refused.headers['retry-after'], '8')
  t.deepEqual(errorOf(refused), {
    code: 'rate_limit_exceeded',
    message: 'Three notes an hour.',
    next_action: 'retry_later',
    details: { retry_after_seconds: 8 },
  })
  const broken = await call(port, 'POST', '/v1/notes', { key: 'api:send', body: { text: 'break' } })
  t.is(broken.status, 500)
  t.false(broken.text.includes('secret'))
  t.is(errorOf(broken).code, 'internal_error')
  t.true(errorOf(broken).message.includes(String(broken.headers['x-request-id'])))
  t.deepEqual(failures.map(String), ['Error: the secret inside'])
  t.deepEqual(column(answered, 'code'), ['rate_limit_exceeded', 'internal_error'])
})

test('AdminApi with checkAnswers refuses to send undeclared fields', async (t) => {
  const { port, failures } = await startDemo(t)
  const reply = await call(port, 'POST', '/v1/notes', { key: 'api:send', body: { text: 'lie' } })
  t.is(reply.status, 500)
  t.is(failures.length, 1)
})

test('AdminApi sends bytes and streams with the headers of the answer', async (t) => {
  const { port } = await startDemo(t)
  for (const id of ['n_1', 'stream']) {
    const reply = await call(port, 'GET', `/v1/notes/${id}/raw`, { key: 'api:read' })
    t.is(reply.text, 'Subject: x\r\n')
    t.like(reply.headers, { 'content-type': 'message/rfc822', 'content-disposition': 'attachment', 'cache-control': 'private' })
  }
})

test('AdminApi: sheds load before authentication, and still serves health', async (t) => {
  const admission = {
    check() {
      throw new Refusal('overloaded', 'Too busy.', { retryAfterSeconds: 1 })
    },
  }
  const { port } = await startDemo(t, { admission })
  const shed = await call(port, 'GET', '/v1/notes')
  t.is(shed.status, 503)
  t.is(shed.headers['retry-after'], '1')
  t.is((await call(port, 'GET', '/healthz')).status, 200)
})

test('AdminApi serves health, readiness with reasons, and metrics', async (t) => {
  const reasons: string[] = []
  const { port } = await startDemo(t, { health: { ready: () => reasons } })
  t.deepEqual(JSON.parse((await call(port, 'GET', '/healthz')).text), { status: 'alive' })
  t.deepEqual(JSON.parse((await call(port, 'GET', '/readyz')).text), { status: 'ready', reasons: [], warnings: [] })
  reasons.push('the store takes no writes')
  const unready = await call(port, 'GET', '/readyz')
  t.is(unready.status, 503)
  t.deepEqual(JSON.parse(unready.text), { status: 'not_ready', reasons: ['the store takes no writes'], warnings: [] })
  const metrics = await call(port, 'GET', '/metrics')
  t.is(metrics.text, 'up 1\n')
  t.is(metrics.headers['content-type'], 'text/plain; version=0.0.4')
})

test('AdminApi: reads the last untrusted hop of X-Forwarded-For from trusted proxies', async (t) => {
  const forwarded = { headers: { 'x-forwarded-for': '6.6.6.6, 203.0.113.9' } }
  const plain = await startDemo(t)
  t.is(JSON.parse((await call(plain.port, 'POST', '/v1/echo-address', forwarded)).text).address, '127.0.0.1')
  const behind = await startDemo(t, { trustProxy: ['127.0.0.1'] })
  const reply = await call(behind.port, 'POST', '/v1/echo-address', forwarded)
  t.is(reply.status, 202)
  t.is(JSON.parse(reply.text).address, '203.0.113.9')
})

test('AdminApi answers malformed HTTP and an oversized header with the error envelope', async (t) => {
  const { port } = await startDemo(t)
  const cases = [
    ['GARBAGE\r\n\r\n', 'HTTP/1.1 400 ', 'validation_failed'],
    ['POST /v1/notes HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n', 'HTTP/1.1 400 ', 'validation_failed'],
    [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 'HTTP/1.1 431 ', 'request_too_large'],
  ] as const
  for (const [bytes, status, code] of cases) {
    const socket = await open(t, port)
    socket.write(bytes)
    const text = await receive(socket)
    t.true(text.startsWith(status), text)
    t.is(errorOf({ text: text.slice(text.indexOf('\r\n\r\n')) }).code, code)
    t.regex(text, /X-Request-Id: req_/)
  }
})

test('AdminApi counts connections above the limit and closes them', async (t) => {
  const dropped = Promise.withResolvers<void>()
  const events = { answered() {}, failed() {}, connectionDropped: dropped.resolve }
  const { port } = await startDemo(t, { limits: { maxConnections: 1 }, events })
  await open(t, port)
  const second = await open(t, port)
  t.is(await receive(second), '')
  await t.notThrowsAsync(dropped.promise)
})

test('Exchange aborts the signal of a handler whose client has disconnected', async (t) => {
  const wait = waitingOperation()
  const { port } = await startDemo(t, { operations: [wait.operation] })
  const socket = await open(t, port)
  socket.write(`POST /v1/wait HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keyOf('api:read')}\r\nContent-Length: 0\r\n\r\n`)
  await wait.begun
  socket.destroy()
  t.is(((await wait.ended) as Error).name, 'ClientGone')
})

test('Exchange ends a request that passes its deadline', async (t) => {
  const wait = waitingOperation({ method: 'GET', deadlineSeconds: 0.05 })
  const { port, answered, failures } = await startDemo(t, { operations: [wait.operation], limits: { deadlineCheckMs: 10 } })
  const reply = await call(port, 'GET', '/v1/wait', { key: 'api:read' })
  t.is(reply.status, 503)
  t.is(reply.headers.connection, 'close')
  t.like(errorOf(reply), { code: 'overloaded', message: 'The request was not finished in time; repeat it in a few seconds.' })
  await wait.ended
  t.is(answered.length, 1)
  t.deepEqual(failures, [])
})

test('Exchange does not run a handler after it answered 503 at the deadline', async (t) => {
  const known = Promise.withResolvers<Principal>()
  const asked = Promise.withResolvers<void>()
  let handled = false
  const late = operation({
    method: 'POST',
    path: '/v1/late',
    operationId: 'late',
    summary: 'Come late',
    tags: ['notes'],
    scope: 'api:read',
    deadlineSeconds: 0.05,
    response: noBody,
    handle() {
      handled = true
    },
  })
  const authenticate = async () => {
    asked.resolve()
    return known.promise
  }
  const { port } = await startDemo(t, { operations: [late], authenticate, limits: { deadlineCheckMs: 10 } })
  const reply = call(port, 'POST', '/v1/late')
  await asked.promise
  t.is((await reply).status, 503)
  known.resolve({ organizationId: 'o', projectId: 'p', bound: false, scopes: ['api:admin'], credentialId: 'g' })
  await known.promise
  t.is((await call(port, 'GET', '/healthz')).status, 200)
  t.false(handled)
})

test('Exchange ends a body that does not arrive before the deadline', async (t) => {
  const slow = { ...demoOperations[0], deadlineSeconds: 0.05 } as Operation
  const { port } = await startDemo(t, { operations: [slow], limits: { deadlineCheckMs: 10 } })
  const socket = await open(t, port)
  socket.write(
    `POST /v1/notes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keyOf('api:send')}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"text"',
  )
  t.true((await receive(socket)).startsWith('HTTP/1.1 503 '))
})

test('listen() rejects if the port is in use', async (t) => {
  const { port } = await startDemo(t)
  await t.throwsAsync(startDemo(t, { listen: { host: '127.0.0.1', port } }), { code: 'EADDRINUSE' })
})

/** The bytes of a request that writes a note. */
const noteRequest = (body = JSON.stringify({ text: 'hello' })): string =>
  `POST /v1/notes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keyOf('api:send')}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`

test('slow request: refused with 408, and its remaining bytes start no request', async (t) => {
  const held = heldNotes()
  held.release()
  const { port } = await startDemo(t, { operations: [held.operation], limits: { headerMs: 50, requestMs: 100, arrivalCheckMs: 10 } })
  const whole = noteRequest()
  for (const arrived of [20, whole.length - 4]) {
    const socket = await open(t, port)
    socket.write(whole.slice(0, arrived))
    const text = await receive(socket, isWhole)
    t.true(text.startsWith('HTTP/1.1 408 '), text)
    t.like(errorOf({ text: text.slice(text.indexOf('\r\n\r\n')) }), { code: 'request_timeout', next_action: 'retry_later' })
    socket.write(whole.slice(arrived))
    await receive(socket)
  }
  t.is(held.runs(), 0)
})

test('malformed bytes do not answer an earlier request that is in progress', async (t) => {
  const held = heldNotes()
  const { port, answered } = await startDemo(t, { operations: [held.operation] })
  const socket = await open(t, port)
  socket.write(noteRequest())
  await held.begun
  socket.write('GARBAGE\r\n\r\n')
  const other = await call(port, 'GET', '/healthz')
  t.is(other.status, 200)
  held.release()
  t.regex(await receive(socket), /^HTTP\/1\.1 201 [^]*connection: close/i)
  t.is(answered.filter(({ operationId }) => operationId === 'createNote').length, 1)
})
