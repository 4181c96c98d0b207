import test, { type ExecutionContext } from '#test'
import type { AttemptReport, SmtpTarget } from '#core/delivery/transport.ts'
import { addressGuard } from '#core/outbound/address-guard.ts'
import type { OAuth2Grant } from '#core/routing/destinations/oauth2.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { jobOf, targetOf, testSink, testTransport } from './relay-fixture.ts'
import type { SinkOptions } from '../../support/smtp/sink-script.ts'
import type { Sink } from '../../support/smtp/sink.ts'
import { tokenEndpoint, type TokenEndpoint, type TokenScript } from './token-endpoint.ts'
import { columns } from '../../support/column.ts'

const byClient = { clientId: 'client-1', clientSecret: 'client-secret-1', scope: 'mail/.default' } as const
const byRefresh = { clientId: 'client-1', clientSecret: 'client-secret-1', refreshToken: 'refresh-secret-1' } as const

interface Scene {
  readonly sink: Sink
  readonly endpoint: TokenEndpoint
  readonly target: SmtpTarget
  /** Tokens that the sink accepts. */
  readonly good: Set<string>
}

async function scene(
  t: ExecutionContext,
  options: { grant?: Omit<OAuth2Grant, 'tokenUrl'>; script?: TokenScript; sink?: SinkOptions } = {},
): Promise<Scene> {
  const endpoint = await tokenEndpoint(t, options.script)
  const good = new Set(['token-1'])
  const sink = await testSink(t, { security: 'starttls', offers: ['AUTH LOGIN XOAUTH2'], tokens: good, ...options.sink })
  const oauth2 = { tokenUrl: endpoint.url, ...(options.grant ?? byClient) }
  const target = targetOf(sink, { security: 'starttls', username: 'me', oauth2 })
  return { sink, endpoint, target, good }
}

const summary = ({ recipients, error }: AttemptReport): readonly unknown[] => [recipients[0]?.verdict, error?.code, error?.phase]
const authLines = (sink: Sink): readonly string[] => sink.lines.filter((line) => line.startsWith('AUTH'))
const secrets = /client-secret-1|refresh-secret-1|token-\d/

test('deliver(): XOAUTH2 with a token from client credentials', async (t) => {
  const { sink, endpoint, target } = await scene(t)
  const report = await testTransport(t).deliver(target, jobOf())
  t.deepEqual(summary(report), ['accepted', undefined, undefined])
  t.deepEqual(endpoint.forms, [
    { grant_type: 'client_credentials', client_id: 'client-1', client_secret: 'client-secret-1', scope: 'mail/.default' },
  ])
  t.deepEqual(authLines(sink), [`AUTH XOAUTH2 ${Buffer.from('user=me\x01auth=Bearer token-1\x01\x01').toString('base64')}`])
})

test('deliver(): uses the refresh token, and the newest one after a rotation', async (t) => {
  const script: TokenScript = (count) => [200, { access_token: `token-${count}`, refresh_token: `rotated-${count}`, expires_in: 60 }]
  const { endpoint, target, good } = await scene(t, { grant: byRefresh, script })
  const clock = new FakeClock()
  const transport = testTransport(t, { clock })
  t.is((await transport.deliver(target, jobOf())).recipients[0]?.verdict, 'accepted')
  transport.forget(target.destinationId)
  clock.advance(31_000)
  good.add('token-2')
  t.is((await transport.deliver(target, jobOf())).recipients[0]?.verdict, 'accepted')
  t.deepEqual(columns(endpoint.forms, 'grant_type', 'refresh_token'), [
    ['refresh_token', 'refresh-secret-1'],
    ['refresh_token', 'rotated-1'],
  ])
})

test('deliver(): sends a long token in a separate line', async (t) => {
  const token = 'x'.repeat(2000)
  const { sink, target, good } = await scene(t, { script: () => [200, { access_token: token, expires_in: 3600 }] })
  good.add(token)
  t.is((await testTransport(t).deliver(target, jobOf())).recipients[0]?.verdict, 'accepted')
  t.deepEqual(authLines(sink), ['AUTH XOAUTH2'])
})

test('deliver(): caches a token until shortly before it expires', async (t) => {
  const { endpoint, target, good } = await scene(t)
  const clock = new FakeClock()
  const transport = testTransport(t, { clock })
  const deliver = async (): Promise<string | undefined> => {
    transport.forget(target.destinationId)
    return (await transport.deliver(target, jobOf())).recipients[0]?.verdict
  }
  t.is(await deliver(), 'accepted')
  clock.advance(54 * 60_000)
  t.is(await deliver(), 'accepted')
  t.is(endpoint.forms.length, 1)
  clock.advance(2 * 60_000)
  good.add('token-2')
  t.is(await deliver(), 'accepted')
  t.is(endpoint.forms.length, 2)
})

test('deliver(): parallel connections share one token fetch', async (t) => {
  const { sink, endpoint, target } = await scene(t)
  const transport = testTransport(t)
  const reports = await Promise.all(Array.from({ length: 5 }, () => transport.deliver({ ...target, maxConnections: 5 }, jobOf())))
  t.true(reports.every((report) => report.recipients[0]?.verdict === 'accepted'))
  t.true(authLines(sink).length > 1)
  t.is(endpoint.forms.length, 1)
})

test('deliver(): replaces a refused cached token once, over the same connection', async (t) => {
  const { sink, endpoint, target, good } = await scene(t)
  const transport = testTransport(t)
  t.is((await transport.deliver(target, jobOf())).recipients[0]?.verdict, 'accepted')
  transport.forget(target.destinationId)
  good.clear()
  good.add('token-2')
  t.is((await transport.deliver(target, jobOf())).recipients[0]?.verdict, 'accepted')
  t.is(sink.connections.length, 2)
  t.is(endpoint.forms.length, 2)
  transport.forget(target.destinationId)
  good.clear()
  t.deepEqual(summary(await transport.deliver(target, jobOf())), ['transient', 'auth_failed', 'auth'])
  t.is(endpoint.forms.length, 3)
  t.is(sink.connections.length, 3)
})

test('deliver(): refused new token is transient; the report has no secret', async (t) => {
  const { endpoint, target, good } = await scene(t, { grant: byRefresh })
  good.clear()
  const report = await testTransport(t).deliver(target, jobOf())
  t.deepEqual(summary(report), ['transient', 'auth_failed', 'auth'])
  t.deepEqual(report.recipients[0]?.reply, { code: 535, enhanced: '5.7.8', text: 'Wrong: (removed)' })
  t.notRegex(JSON.stringify(report), secrets)
  t.is(endpoint.forms.length, 1)
})

test('deliver(): OAuth 2.0 never falls back to another mechanism', async (t) => {
  const without = await scene(t, { sink: { offers: ['AUTH PLAIN LOGIN'] } })
  t.deepEqual(summary(await testTransport(t).deliver(without.target, jobOf())), ['transient', 'auth_unavailable', 'auth'])
  t.deepEqual(authLines(without.sink), [])
  t.is(without.endpoint.forms.length, 0)
})

const told: readonly (readonly [string, TokenScript, string, RegExp])[] = [
  [
    'a refusal',
    () => [401, { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret client-secret-1 provided.' }],
    'destination_misconfigured',
    / said: invalid_client: AADSTS7000215: Invalid client secret \(removed\) provided\.$/,
  ],
  ['a revoked grant', () => [400, { error: 'invalid_grant' }], 'destination_misconfigured', / said: invalid_grant$/],
  ['a page', () => [200, '<html>inside</html>'], 'destination_misconfigured', / said: an answer without an access token$/],
  ['a redirect', () => [302, ''], 'destination_misconfigured', / said: HTTP 302$/],
  ['a token with a line break', () => [200, { access_token: 'a\r\nRSET' }], 'destination_misconfigured', / without an access token$/],
  ['too many requests', () => [429, { error: 'slow_down' }], 'token_unavailable', / said: slow_down$/],
  ['a breakdown', () => [503, 'inside'], 'token_unavailable', / said: HTTP 503$/],
  ['a flood', () => [200, 'x'.repeat(70_000)], 'token_unavailable', /The limit is 65536 bytes\.$/],
]

for (const [what, script, code, message] of told) {
  test(`deliver(): ${what} from the token endpoint is ${code}`, async (t) => {
    const { sink, target } = await scene(t, { script })
    const report = await testTransport(t).deliver(target, jobOf())
    t.deepEqual(summary(report), ['transient', code, 'auth'])
    t.regex(report.error?.message ?? '', message)
    t.is(report.error?.class, code === 'destination_misconfigured' ? 'misconfigured' : undefined)
    t.notRegex(JSON.stringify(report), secrets)
    t.deepEqual(authLines(sink), [])
  })
}

test('deliver(): sends nothing to an unverified or forbidden token endpoint', async (t) => {
  const { endpoint, target } = await scene(t)
  const tlsPolicy = 'insecure'
  const unknown = await testTransport(t, { trusted: [] }).deliver({ ...target, tlsPolicy }, jobOf())
  t.deepEqual(summary(unknown), ['transient', 'token_unavailable', 'auth'])
  const guard = addressGuard([{ cidr: '127.0.0.1/32', port: target.port }])
  const forbidden = await testTransport(t, { guard }).deliver(target, jobOf())
  t.deepEqual(summary(forbidden), ['transient', 'destination_misconfigured', 'auth'])
  t.is(endpoint.forms.length, 0)
})

test('deliver(): silent token endpoint fails at the deadline', async (t) => {
  const { endpoint, target } = await scene(t, { script: () => 'hold' })
  const clock = new FakeClock()
  const attempt = testTransport(t, { clock }).deliver(target, jobOf())
  await endpoint.reached(1)
  clock.advance(20_001)
  t.deepEqual(summary(await attempt), ['transient', 'token_unavailable', 'auth'])
})

test('dispose(): aborts a token fetch', async (t) => {
  const { endpoint, target } = await scene(t, { script: () => 'hold' })
  const transport = testTransport(t)
  const attempt = transport.deliver(target, jobOf())
  await endpoint.reached(1)
  await transport[Symbol.asyncDispose]()
  t.deepEqual(summary(await attempt), ['transient', 'closed', 'connect'])
})

test('probe(): signs in with XOAUTH2 and reports a misconfiguration', async (t) => {
  const { target, endpoint } = await scene(t)
  const { signal } = new AbortController()
  const good = await testTransport(t).probe(target, signal)
  t.like(
    good.find(({ step }) => step === 'auth'),
    { ok: true, detail: 'Signed in with AUTH XOAUTH2.' },
  )
  endpoint.script = () => [400, { error: 'invalid_grant' }]
  const bad = (await testTransport(t).probe(target, signal)).at(-1)
  t.like(bad, { step: 'auth', ok: false })
  t.regex(bad?.detail ?? '', /^The destination cannot be used with its current settings\. The token endpoint .* said: invalid_grant$/)
})
