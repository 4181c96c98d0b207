/** The MCP endpoint: both eras of the protocol, access checks, and refusals. */
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import test from '#test'
import { requireOwnAddress } from '../../../admin-api/mcp/origins.ts'
import { mcpResource, restResource } from '../oauth/oauth-fixture.ts'
import { adminKey } from '../rest/fixture/rest-fixture.ts'
import { lastMessage, startMcp, type Era, type McpFixture } from './mcp-fixture.ts'

const metadata = 'https://post.example.ch/.well-known/oauth-protected-resource/mcp'

/** Returns the response after reading it, since an unread stream keeps its connection open. */
async function post(fixture: McpFixture, body: unknown, headers: Readonly<Record<string, string>> = {}, query = ''): Promise<Response> {
  const response = await fixture.fetch(mcpResource + query, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return new Response(await response.text(), response)
}

const listing = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

for (const era of ['legacy', 'modern'] as const satisfies readonly Era[])
  test(`${era}: an agent connects, gets instructions, lists tools and calls them`, async (t) => {
    const fixture = await startMcp(t)
    const agent = await fixture.agent({ era })
    const instructions = agent.client.getInstructions() ?? ''
    t.true(instructions.includes('Sandbox first') && instructions.split(/\s+/).length < 300)
    t.is(agent.client.getServerVersion()?.name, 'postern')
    t.true((await agent.names()).includes('account_status'))
    const status = await agent.must('account_status')
    t.like(status, { status: 'claimed', project_id: fixture.projectId, claim_progress: { claimed: true } })
    const called = await agent.call('email_trace_lookup', { trace_id: 'a3c0be6a-0000-4000-8000-000000000000' })
    t.deepEqual([called.isError, called.value, called.text], [false, { found: false }, '{"found":false}'])
    await t.throwsAsync(agent.client.callTool({ name: 'email_send_tset', arguments: {} }), { message: /did you mean email_send_test\?/ })
  })

test('endpoint: 401 without an agent token names the authorization server', async (t) => {
  const fixture = await startMcp(t)
  const none = await post(fixture, listing)
  t.is(none.status, 401)
  t.is(none.headers.get('www-authenticate'), `Bearer resource_metadata="${metadata}", scope="mcp:read mcp:send-sandbox"`)
  t.like(await none.json(), { error: { code: 'unauthorized' } })
  const key = await fixture.rest.must('POST', '/v1/publishable-keys', {
    allowed_origins: ['https://shop.example.ch'],
    allowed_to: ['ada@example.ch'],
    locked_from: 'form@example.ch',
  })
  const restToken = String((await fixture.signIn({ resource: restResource, scope: 'api:admin' }))['access_token'])
  const expired = await fixture.tokenOf()
  for (const token of [adminKey, String(key['raw_token']), restToken, 'nonsense', `${expired.slice(0, -4)}AAAA`]) {
    const refused = await post(fixture, listing, bearer(token))
    t.is(refused.status, 401, token.slice(0, 12))
    t.regex(refused.headers.get('www-authenticate') ?? '', /error="invalid_token"/)
  }
  t.is((await post(fixture, listing, bearer(expired))).status, 200)
  fixture.clock.advance(3_700_000)
  t.is((await post(fixture, listing, bearer(expired))).status, 401)
  t.is((await fixture.callRest(await fixture.tokenOf())).status, 401, 'REST refuses an agent token')
})

test('endpoint: a token ends with its grant and with the role of its user', async (t) => {
  const fixture = await startMcp(t)
  const agent = await fixture.agent({ era: 'legacy' }) // which does not cache the list
  t.true((await agent.names()).includes('destination_promote_to_live'))
  await fixture.setRole('viewer')
  t.false((await agent.names()).includes('destination_promote_to_live'))
  const error = await agent.refused('destination_promote_to_live', { destination_id: 'dst_1' })
  t.like(error, { code: 'insufficient_scope', next_action: 'ask_administrator' })
  await fixture.setRole(undefined)
  t.is((await post(fixture, listing, bearer(agent.token))).status, 401)
})

test('endpoint: a missing scope is a challenge or a tool error, as the client supports', async (t) => {
  const fixture = await startMcp(t)
  const token = await fixture.tokenOf('mcp:read')
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'destination_promote_to_live', arguments: { destination_id: 'dst_1' } },
  }
  const challenged = await post(fixture, call, { ...bearer(token), 'mcp-protocol-version': '2025-11-25' })
  t.is(challenged.status, 403)
  t.is(
    challenged.headers.get('www-authenticate'),
    `Bearer error="insufficient_scope", scope="mcp:read mcp:send-sandbox mcp:send mcp:admin", resource_metadata="${metadata}"`,
  )
  t.like(await challenged.json(), { error: { code: 'insufficient_scope', details: { required_scope: 'mcp:admin' } } })
  const older = await post(fixture, call, {
    ...bearer(token),
    'mcp-protocol-version': '2025-06-18',
    accept: 'application/json, text/event-stream',
  })
  t.is(older.status, 200)
  t.like(lastMessage(await older.text()), {
    result: { isError: true, structuredContent: { error: { code: 'insufficient_scope', next_action: 'reconnect_with_scope' } } },
  })

  const anonymous = await fixture.agent({ token: await fixture.anonymousToken() })
  t.false((await anonymous.names()).includes('destination_promote_to_live'))
  t.like(await anonymous.refused('destination_promote_to_live', { destination_id: 'dst_1' }), {
    code: 'insufficient_scope',
    next_action: 'call account_claim',
  })
})

test('endpoint: foreign origins and malformed requests are refused', async (t) => {
  const fixture = await startMcp(t)
  const headers = bearer(await fixture.tokenOf())
  const foreign = await post(fixture, listing, { ...headers, origin: 'https://evil.example' })
  t.is(foreign.status, 403)
  t.like(await foreign.json(), { jsonrpc: '2.0', id: null, error: { data: { code: 'origin_not_allowed' } } })
  t.is((await post(fixture, listing, { ...headers, origin: 'https://post.example.ch' })).status, 200)
  t.is((await post(fixture, listing, { ...headers, origin: 'http://localhost:6274' })).status, 200, 'a local inspector')
  t.is((await post(fixture, listing, { origin: 'https://evil.example' })).status, 403, 'for any token')
  const broken = await post(fixture, '{"jsonrpc": "2.0", ', headers)
  t.is(broken.status, 400)
  t.like(await broken.json(), { jsonrpc: '2.0', id: null, error: { code: -32_700 } })
  t.is((await post(fixture, listing, headers, '?toolset=send')).status, 400)
  const unknown = await post(fixture, listing, headers, '?toolsets=sending')
  t.like(await unknown.json(), { error: { data: { code: 'validation_failed' } } })
  t.is((await post(fixture, { ...listing, method: 'tools/dance' }, headers)).status, 200)
})

test('endpoint: CORS allows a local inspector and no other page', async (t) => {
  const fixture = await startMcp(t)
  const preflight = (origin: string) =>
    fixture.fetch(mcpResource, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization, mcp-protocol-version' },
    })
  const asked = await preflight('http://localhost:6274')
  t.is(asked.status, 204)
  t.is(asked.headers.get('access-control-allow-origin'), 'http://localhost:6274')
  for (const name of ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'x-service-toolsets'])
    t.true(asked.headers.get('access-control-allow-headers')?.split(', ').includes(name), name)
  t.is((await preflight('https://evil.example')).headers.get('access-control-allow-origin'), null)
  const none = await post(fixture, listing, { origin: 'http://localhost:6274' })
  t.is(none.status, 401)
  t.is(none.headers.get('access-control-allow-origin'), 'http://localhost:6274', 'it can read the challenge')
  t.regex(none.headers.get('access-control-expose-headers') ?? '', /www-authenticate/)
  const headers = { ...bearer(await fixture.tokenOf()), origin: 'http://localhost:6274' }
  t.is((await post(fixture, listing, headers)).headers.get('access-control-allow-origin'), 'http://localhost:6274')
})

test('endpoint: on loopback, only own host names are accepted (DNS rebinding)', async (t) => {
  const fixture = await startMcp(t)
  const token = await fixture.tokenOf()
  const [address, port = ''] = fixture.address.split(':')
  const statusFor = async (host: string, method = 'POST'): Promise<number> => {
    const headers = { ...bearer(token), host, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const sent = request({ host: address, port, path: '/mcp', method, headers })
    sent.end(method === 'POST' ? JSON.stringify(listing) : undefined)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode ?? 0
  }
  for (const host of [
    `rebound.evil.example:${port}`,
    'post.example.ch.evil.example',
    '127.0.0.1.evil.example',
    'post.example.ch@evil.example',
  ])
    t.is(await statusFor(host), 421, host)
  t.is(await statusFor('rebound.evil.example', 'GET'), 421)
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, 'post.example.ch', 'POST.example.ch:443', 'postern:8080'])
    t.is(await statusFor(host), 200, host)
})

test('endpoint: a public service accepts any host name, but no foreign origin', (t) => {
  const own = { origins: ['https://post.example.ch'], hosts: undefined }
  t.notThrows(() => requireOwnAddress({ host: 'backend.internal.example:8080' }, own))
  t.notThrows(() => requireOwnAddress({ host: 'mail.example.com', origin: 'https://post.example.ch' }, own))
  t.throws(() => requireOwnAddress({ host: 'post.example.ch', origin: 'null' }, own), { code: 'origin_not_allowed' })
  t.throws(() => requireOwnAddress({ host: 'post.example.ch', origin: 'http://localhost.evil.example' }, own))
})

test('endpoint: a browser gets a page; other GETs and DELETE get 405', async (t) => {
  const fixture = await startMcp(t)
  const shown = await fixture.fetch(mcpResource, { headers: { accept: 'text/html,application/xhtml+xml' } })
  const text = await shown.text()
  t.is(shown.status, 200)
  t.true(text.includes('This is the MCP endpoint of Postern') && text.includes(`claude mcp add --transport http postern ${mcpResource}`))
  t.is((await fixture.fetch(mcpResource, { headers: { accept: 'text/event-stream' } })).status, 405)
  t.is((await fixture.fetch(mcpResource, { method: 'DELETE' })).status, 405)
})

test('toolsets: an agent lists and calls only tools that its user allowed', async (t) => {
  const fixture = await startMcp(t)
  const token = await fixture.tokenOf(undefined, { toolsets: 'account,webhooks' })
  const one = await fixture.agent({ token })
  const kinds = (names: readonly string[]) => [...new Set(names.map((name) => name.split('_')[0]))]
  t.deepEqual(kinds(await one.names()), ['account', 'webhook'])
  t.like(await one.refused('email_trace_lookup', { trace_id: 'x' }), { code: 'not_found', next_action: 'reconnect_with_toolset' })
  const narrowed = await fixture.agent({ token, query: '?toolsets=webhooks,send' })
  t.deepEqual(kinds(await narrowed.names()), ['webhook'])
  t.like(await narrowed.refused('account_status'), { code: 'not_found', next_action: 'connect_with_toolset' })
})

test('toolsets: the client selects toolsets and read-only tools; others are refused', async (t) => {
  const fixture = await startMcp(t)
  const some = await fixture.agent({ query: '?toolsets=send,account' })
  const names = await some.names()
  t.true(names.includes('email_send_test') && names.includes('account_status') && !names.includes('webhook_endpoint_list'))
  t.like(await some.refused('webhook_endpoint_list'), { code: 'not_found', next_action: 'connect_with_toolset' })
  const byHeader = await fixture.agent({ headers: { 'X-Service-Toolsets': 'webhooks' } })
  t.deepEqual([...new Set((await byHeader.names()).map((name) => name.split('_')[0]))], ['webhook'])
  const forms = (await (await fixture.agent({ query: '?toolsets=forms' })).names()).toSorted()
  t.deepEqual(forms, [
    'form_create',
    'form_embed_snippet_generate',
    'form_list',
    'form_publish',
    'form_reply_draft_create',
    'form_reply_send',
  ])
  const reading = await fixture.agent({ query: '?readonly=1' })
  const { tools } = await reading.client.listTools()
  t.true(tools.length > 10 && tools.every(({ annotations }) => annotations?.readOnlyHint))
  t.like(await reading.refused('email_send_test', { to: 'ada@example.ch', subject: 'x', text: 'x' }), { code: 'not_found' })
})

test('flags: a tool with a disabled flag is not listed and returns feature_disabled', async (t) => {
  const fixture = await startMcp(t)
  const agent = await fixture.agent({ era: 'legacy' })
  await setFlag(fixture, 'webhooks', false)
  t.false((await agent.names()).includes('webhook_endpoint_list'))
  t.like(await agent.refused('webhook_endpoint_list'), { code: 'feature_disabled', details: { flag: 'webhooks' } })
  await setFlag(fixture, 'smtp_relay', false)
  const names = await agent.names()
  t.true(names.includes('smtp_credential_revoke') && !names.includes('smtp_credential_create'), 'the tool that deletes remains')
  await setFlag(fixture, 'webhooks', true)
  t.true((await agent.names()).includes('webhook_endpoint_list'))
})

const setFlag = async ({ operator, organizationId }: McpFixture, flag: string, on: boolean): Promise<void> => {
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/flags`, { [flag]: on })
}

test('calls: each adds a log line and a metric, without its arguments', async (t) => {
  const fixture = await startMcp(t)
  const agent = await fixture.agent()
  await agent.must('account_status')
  await agent.refused('email_suppression_add', { email: 'not-an-address-of-anyone' })
  const lines = fixture.daemon.log.filter(({ msg }) => msg === 'tool call')
  t.deepEqual(
    lines.map(({ tool, outcome }) => [tool, outcome]),
    [
      ['account_status', 'ok'],
      ['email_suppression_add', 'validation_failed'],
    ],
  )
  t.is(typeof lines[0]?.['milliseconds'], 'number')
  t.false(JSON.stringify(fixture.daemon.log).includes('not-an-address-of-anyone'))
  const metrics = await (await fixture.fetch('https://post.example.ch/metrics')).text()
  t.regex(metrics, /postern_agent_tool_calls(?:_total)?\{tool="email_suppression_add",outcome="validation_failed"\} 1/)
})

test('calls: input errors name the field and the fix', async (t) => {
  const { agent } = await startMcp(t)
  const one = await agent()
  const missing = await one.refused('email_send_test', { subject: 'x', text: 'y' })
  t.like(missing, { code: 'validation_failed', next_action: 'fix_request' })
  t.regex(missing.message, /^to: is required/)
  const unknown = await one.refused('email_provider_health', { destinationid: 'dst_1' })
  t.regex(unknown.message, /destination_id/)
  t.like(await one.refused('email_provider_health', { destination_id: 'dst_1' }), { code: 'not_found', next_action: 'check_id' })
})
