/** Keys access only their own mail at the addresses of other services, and send each message once. */
import test from '#test'
import { dialects } from '../../../admin-api/vendors/dialects.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { Sink } from '../../support/smtp/sink.ts'

const from = 'shop@example.ch'
const to = 'ada@example.net'
const calls = dialects.flatMap(({ name, calls: own = [] }) => own.map((call) => ({ service: name, ...call })))
/** Parameters with the message id, if the path does not contain it. */
const asked = ['messageId', 'message-id', 'transmissions']
const body: Readonly<Record<string, object>> = { PATCH: { scheduled_at: '2031-01-01T00:00:00Z' } }

test('look-ups and cancels: foreign ids are not found; send-only keys cannot look up', async (t) => {
  const { rest, client, clock } = await startDaemon(t)
  const later = new Date(clock.now() + 3_600_000).toISOString()
  const { trace_id: id } = await rest.must('POST', '/v1/messages', { from, to, text: 'Hi', send_at: later })
  const keyOf = async (settings: object) => String((await rest.must('POST', '/v1/api-keys', { name: 'other', ...settings }))['key'])
  const { id: project } = await rest.must('POST', '/v1/projects', { name: 'Other' })
  const outsider = client(await keyOf({ scopes: ['api:send', 'api:read'], project_id: project }))
  const sender = client(await keyOf({ send_only: true }))
  t.true(calls.length > 15)
  for (const { service, method, path, operationId, query } of calls) {
    const names = Object.keys(query?.shape ?? {})
    const name = asked.find((one) => names.includes(one))
    const search = name === undefined ? '' : `?${name}=${String(id)}`
    const address = path.replaceAll(/\{(\w+)\}/g, (_, part) => (part === 'domain' ? 'example.ch' : String(id))) + search
    const found = await outsider.call(method, address, body[method])
    t.is(found.status, 404, `${service} ${operationId}: ${found.bytes.toString()}`)
    t.false(found.bytes.toString().includes(to), operationId)
    const unknown = await rest.call(method, address.replaceAll(String(id), '5f0c1c1e-0000-4000-8000-000000000000'), body[method])
    t.is(unknown.status, 404, operationId)
    // the same text, whether the message exists or not
    t.is(texts(found.bytes), texts(unknown.bytes), operationId)
    const blind = await sender.call(method, address, body[method])
    t.true(blind.status === 401 || blind.status === 403, `${service} ${operationId}: ${String(blind.status)} ${blind.bytes.toString()}`)
  }
  t.like(await rest.must('GET', `/v1/traces/${String(id)}`), { status: 'queued', send_at: later })
})

const texts = (bytes: Buffer): string => bytes.toString().replaceAll(/[\da-f-]{36}|req_\w+/g, '')

test('idempotency: concurrent requests with one key send once, with the same response', async (t) => {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const { rest } = await startDaemon(t, {
    env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' },
  })
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  const mail = { from, to, text: 'Hi' }
  const versions = ['eva', 'zoe'].map((name) => ({ to: [{ email: `${name}@example.net` }] }))
  const ses = { FromEmailAddress: from, Destination: { ToAddresses: [to] } }
  const simple = (Data: string) => ({ Simple: { Subject: { Data }, Body: { Text: { Data: 'Hi' } } } })
  const cases: readonly (readonly [path: string, body: object, headers: Readonly<Record<string, string>>, messages: number])[] = [
    ['/emails', { ...mail, subject: 'Resend' }, { 'idempotency-key': 'one' }, 1],
    ['/emails/batch', [mail, { ...mail, subject: 'Second' }], { 'idempotency-key': 'batch' }, 2],
    [
      '/v3/smtp/email',
      { sender: { email: from }, subject: 's', textContent: 't', headers: { 'idempotency-key': 'versions' }, messageVersions: versions },
      {},
      2,
    ],
    ['/v2/email/outbound-emails', { ...ses, Content: simple('SES') }, { 'amz-sdk-invocation-id': 'one' }, 1],
  ]
  let sent = 0
  for (const [path, given, headers, messages] of cases) {
    const answers = await Promise.all(Array.from({ length: 6 }, () => rest.call('POST', path, given, headers)))
    for (const { status, bytes } of answers) {
      t.true(status < 300, `${path}: ${String(status)} ${bytes.toString()}`)
      t.is(bytes.toString(), answers[0]?.bytes.toString() ?? '', path)
    }
    sent += messages
    t.is((await Array.fromAsync(rest.rows('/v1/traces'))).length, sent, path)
  }
})
