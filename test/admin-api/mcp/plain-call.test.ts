/** Reads that do not go through the package of the protocol: they get the answer that they would get there, and nothing else goes so. */
import type { IncomingHttpHeaders } from 'node:http'
import test from 'ava'
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

test('every read gets the same answer by both ways', async (t) => {
  const fixture = await startMcp(t)
  const requests = Object.entries(toolRequestsOf(await makeForTools(fixture)))
  const token = await fixture.tokenOf()
  // what waits or probes takes time, which stands still
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

test('what is not plainly a call in every point is left to the package', (t) => {
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
    ['arguments that are none', headers, { ...body, params: { ...params, arguments: [] } }],
    ['a further round', headers, { ...body, params: { ...params, requestState: 'x' } }],
    ['a token for progress', headers, bodyOf(name, {}, { progressToken: 'x' })],
    ['another revision', headers, bodyOf(name, {}, { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' })],
    ['no capabilities', headers, bodyOf(name, {}, { 'io.modelcontextprotocol/clientCapabilities': undefined })],
    ['capabilities that are none', headers, bodyOf(name, {}, { 'io.modelcontextprotocol/clientCapabilities': { roots: 1 } })],
    ['a client without a name', headers, bodyOf(name, {}, { 'io.modelcontextprotocol/clientInfo': { version: '1' } })],
    ['null', headers, null],
  ]
  for (const [what, givenHeaders, given] of others) t.is(plainCallOf(givenHeaders, given), undefined, what)
})
