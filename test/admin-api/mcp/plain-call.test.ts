/** Fast path for reads without the package: it returns the same responses as the package, and accepts no other requests. */
import type { IncomingHttpHeaders } from 'node:http'
import test from '#test'
import { plainCallOf } from '../../../admin-api/mcp/plain-call.ts'
import { mcpResource } from '../oauth/oauth-fixture.ts'
import { startMcp } from './mcp-fixture.ts'
import { makeForTools, toolRequestsOf } from './walks/tool-requests.ts'

const version = '2026-07-28'
const meta = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } },
}

const headersOf = (name: string) => ({
  ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  ...{ 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': name },
})
const bodyOf = (name: string, given: unknown, more: object = {}) => ({
  ...{ jsonrpc: '2.0', id: 7, method: 'tools/call' },
  params: { name, arguments: given, _meta: { ...meta, ...more } },
})

test('plain call: reads return the same response with and without the package', async (t) => {
  const fixture = await startMcp(t)
  const requests = Object.entries(toolRequestsOf(await makeForTools(fixture)))
  const token = await fixture.tokenOf()
  // waits and probes need time, and the clock of the test stands still
  const tools = fixture.daemon.agents.tools.filter(
    ({ readOnly, binding: { name, hints } }) => readOnly && hints?.openWorld !== true && name !== 'virtual_inbox_message_wait',
  )
  t.true(tools.length > 20)
  for (const [name, { given, wrong }] of requests.filter(([name]) => tools.some(({ binding }) => binding.name === name)))
    for (const one of [given, wrong?.given ?? { no_such_argument: 1 }]) {
      const ask = async (more: object) => {
        const body = bodyOf(name, one, more)
        const isPlain = plainCallOf(headersOf(name), body) !== undefined
        const headers = { ...headersOf(name), authorization: `Bearer ${token}` }
        const response = await fixture.fetch(mcpResource, { method: 'POST', headers, body: JSON.stringify(body) })
        return { isPlain, status: response.status, type: response.headers.get('content-type'), answer: (await response.json()) as object }
      }
      const [plain, whole] = [await ask({}), await ask({ progressToken: 1 })]
      t.deepEqual([plain.isPlain, whole.isPlain], [true, false])
      t.deepEqual({ ...plain, isPlain: false }, whole, name)
    }
})

test('plain call: the package handles every other request', (t) => {
  const name = 'email_trace_lookup'
  const [headers, body] = [headersOf(name), bodyOf(name, { trace_id: 'x' })]
  t.truthy(plainCallOf(headers, body))
  const { params } = body
  const others: readonly (readonly [string, IncomingHttpHeaders, unknown])[] = [
    ['another method in the header', { ...headers, 'mcp-method': 'tools/list' }, body],
    ['another name in the header', { ...headers, 'mcp-name': 'account_status' }, body],
    ['another revision in the header', { ...headers, 'mcp-protocol-version': '2025-11-25' }, body],
    ['no header of the revision', { ...headers, 'mcp-protocol-version': undefined }, body],
    ['another type', { ...headers, 'content-type': 'text/plain' }, body],
    ['a batch', headers, [body]],
    ['a notification', headers, { ...body, id: undefined }],
    ['no id', headers, { ...body, id: null }],
    ['another method', headers, { ...body, method: 'tools/list' }],
    ['no JSON-RPC 2.0', headers, { ...body, jsonrpc: '1.0' }],
    ['invalid arguments', headers, { ...body, params: { ...params, arguments: [] } }],
    ['a further round', headers, { ...body, params: { ...params, requestState: 'x' } }],
    ['a token for progress', headers, bodyOf(name, {}, { progressToken: 'x' })],
    ['another revision', headers, bodyOf(name, {}, { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' })],
    ['no capabilities', headers, bodyOf(name, {}, { 'io.modelcontextprotocol/clientCapabilities': undefined })],
    ['invalid capabilities', headers, bodyOf(name, {}, { 'io.modelcontextprotocol/clientCapabilities': { roots: 1 } })],
    [
      'an invalid setting of a capability',
      headers,
      bodyOf(name, {}, { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: 1 } } }),
    ],
    ['a client that is null', headers, bodyOf(name, {}, { 'io.modelcontextprotocol/clientInfo': null })],
    ['an invalid title', headers, bodyOf(name, {}, { 'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1', title: 1 } })],
    ['pictures of a client', headers, bodyOf(name, {}, { 'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1', icons: 1 } })],
    ['a client without a name', headers, bodyOf(name, {}, { 'io.modelcontextprotocol/clientInfo': { version: '1' } })],
    ['null', headers, null],
  ]
  for (const [what, givenHeaders, given] of others) t.is(plainCallOf(givenHeaders, given), undefined, what)
})

test('plain call: envelopes are refused or answered as by the package', async (t) => {
  const fixture = await startMcp(t)
  const token = await fixture.tokenOf()
  const name = 'account_status'
  const values = [null, 1, 'x', true, [], {}, { x: 1 }, { x: null }, { x: {} }, { x: true }, { x: [] }, { name: 'x', version: '1' }]
  const clients = ['title', 'websiteUrl', 'description', 'icons', 'other'].flatMap((field) =>
    values.map((value) => ({ name: 'x', version: '1', [field]: value })),
  )
  const capabilities = ['experimental', 'sampling', 'elicitation', 'roots', 'tasks', 'extensions', 'other'].flatMap((field) =>
    [...values, { listChanged: 1 }, { form: 1 }, { form: { applyDefaults: 1 } }, { context: 1 }].map((value) => ({ [field]: value })),
  )
  const envelopes = [
    ...[...values, ...clients].map((value) => ({ 'io.modelcontextprotocol/clientInfo': value })),
    ...[...values, ...capabilities].map((value) => ({ 'io.modelcontextprotocol/clientCapabilities': value })),
    ...values.map((value) => ({ 'io.modelcontextprotocol/logLevel': value })),
  ]
  const ask = async (more: object, headers: Readonly<Record<string, string>> = {}) => {
    const given = { ...headersOf(name), authorization: `Bearer ${token}`, ...headers }
    const response = await fixture.fetch(mcpResource, { method: 'POST', headers: given, body: JSON.stringify(bodyOf(name, {}, more)) })
    return { status: response.status, answer: (await response.json()) as object }
  }
  const plain = envelopes.filter((one) => plainCallOf(headersOf(name), bodyOf(name, {}, one)) !== undefined)
  t.true(plain.length > 20)
  // an additional `_meta` key makes the same request go through the package
  for (const one of plain) t.deepEqual(await ask(one), await ask({ ...one, 'example.org/own': 1 }), JSON.stringify(one))
  for (const headers of [{ accept: 'text/html' }, { 'mcp-session-id': 'x' }, { 'last-event-id': '1' }])
    t.deepEqual(await ask({}, headers), await ask({ 'example.org/own': 1 }, headers), JSON.stringify(headers))
})

test('plain call: checks origin, token, toolset, flag and arguments', async (t) => {
  const fixture = await startMcp(t)
  const token = await fixture.tokenOf()
  const ask = async (tool: string, { query = '', bearer = token, headers = {}, more = {} as object, given = {} as object }) => {
    const response = await fixture.fetch(mcpResource + query, {
      method: 'POST',
      headers: { ...headersOf(tool), authorization: `Bearer ${bearer}`, ...headers },
      body: JSON.stringify(bodyOf(tool, given, more)),
    })
    const text = await response.text()
    return { status: response.status, challenge: response.headers.get('www-authenticate'), text: text.replace(/req_[\w-]+/g, 'req') }
  }
  const apiKey = String((await fixture.rest.must('POST', '/v1/api-keys', { name: 'test', scopes: ['api:read'] }))['key'])
  const cases = [
    ['account_status', { headers: { origin: 'https://evil.example' } }],
    ['account_status', { bearer: 'x' }],
    ['account_status', { bearer: apiKey }],
    ['account_status', { query: '?toolsets=webhooks' }],
    ['account_status', { query: '?toolsets=nonsense' }],
    ['account_status', { headers: { 'x-service-toolsets': 'webhooks' } }],
    ['email_bulk_replay_status', { bearer: await fixture.anonymousToken(), given: { job_id: 'rpl_none' } }],
    ['email_trace_lookup', { given: { trace_id: 1 } }],
  ] as const
  for (const [tool, asked] of cases) {
    const own = await ask(tool, asked)
    t.deepEqual(own, await ask(tool, { ...asked, more: { 'example.org/own': 1 } }), `${tool} ${JSON.stringify(asked)}`)
    t.regex(own.text, /error/i)
  }
})
