/** The media type of a response, for clients that accept both types, one, any or no type, or send no `Accept`. RFC 9110 §12.5.1. */
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import test from '#test'
import { lastMessage, startMcp, type McpFixture } from './mcp-fixture.ts'

const json = 'application/json'
const events = 'text/event-stream'
const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
}
const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'account_status', arguments: {} } }

interface Reply {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** Sends only these headers; `fetch` adds its own `Accept`. */
async function post({ address }: McpFixture, body: unknown, headers: Readonly<Record<string, string | undefined>>): Promise<Reply> {
  const [host, port] = address.split(':')
  const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
  const sent = request({ host, port, path: '/mcp', method: 'POST', headers: { 'content-type': json, ...given } })
  sent.end(JSON.stringify(body))
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: answer.statusCode ?? 0, type: answer.headers['content-type'] ?? '', text: await textOf(answer) }
}

/** If the client accepts both types, the package chooses by era. */
const cases: readonly (readonly [accept: string | undefined, type: 'both' | typeof json | typeof events])[] = [
  [`${json}, ${events}`, 'both'],
  ['*/*', 'both'],
  [undefined, 'both'],
  ['', 'both'],
  ['application/*, text/event-stream', 'both'],
  ['Application/JSON;q=0.5, text/*;q=0.1', 'both'],
  [json, json],
  ['application/*', json],
  ['*/*, text/event-stream;q=0', json],
  [events, events],
  ['text/html, text/event-stream;q=0.2', events],
]

test('media type: the response has a type that the client accepts', async (t) => {
  const fixture = await startMcp(t)
  const authorization = `Bearer ${await fixture.tokenOf()}`
  const modern = { ...call, params: { ...call.params, _meta: modernMeta } }
  const withProgress = { ...modern, params: { ...modern.params, _meta: { ...modernMeta, progressToken: 1 } } }
  const modernHeaders = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'account_status' }
  const requests: readonly (readonly [string, object, Readonly<Record<string, string>>])[] = [
    [events, initialize, {}],
    [events, call, { 'mcp-protocol-version': '2025-06-18' }],
    [json, modern, modernHeaders],
    [json, withProgress, modernHeaders],
  ]
  for (const [usual, body, more] of requests)
    for (const [accept, type] of cases) {
      const { status, type: given, text } = await post(fixture, body, { authorization, accept, ...more })
      const what = `${accept} for ${usual}`
      t.is(status, 200, what)
      t.is(given.split(';')[0], type === 'both' ? usual : type, what)
      const message = given.startsWith(json) ? (JSON.parse(text) as unknown) : lastMessage(text)
      t.deepEqual(Object.keys(message as object).toSorted(), ['id', 'jsonrpc', 'result'], what)
    }
})

test('media type: a batch returns an array if the client accepts only JSON', async (t) => {
  const fixture = await startMcp(t)
  const headers = { authorization: `Bearer ${await fixture.tokenOf()}`, accept: json, 'mcp-protocol-version': '2025-03-26' }
  const { status, text } = await post(fixture, [call, { ...call, id: 3 }], headers)
  t.is(status, 200)
  const ids = (JSON.parse(text) as { readonly id: number }[]).map(({ id }) => id)
  t.deepEqual(
    ids.toSorted((a, b) => a - b),
    [2, 3],
  )
})

test('media type: notifications and refusals do not depend on the accepted type', async (t) => {
  const fixture = await startMcp(t)
  const authorization = `Bearer ${await fixture.tokenOf()}`
  for (const accept of [json, events]) {
    t.like(await post(fixture, { jsonrpc: '2.0', method: 'notifications/initialized' }, { authorization, accept }), {
      status: 202,
      text: '',
    })
    t.is((await post(fixture, call, { accept })).status, 401)
    const unsupported = await post(fixture, call, { authorization, accept, 'mcp-protocol-version': '1999-01-01' })
    t.like(unsupported, { status: 400, type: json })
  }
})

test('media type: 406 names the types if the client accepts no available type', async (t) => {
  const fixture = await startMcp(t)
  const authorization = `Bearer ${await fixture.tokenOf()}`
  for (const accept of ['text/html', 'application/json;q=0', 'image/*, text/plain']) {
    const { status, text } = await post(fixture, call, { authorization, accept })
    t.is(status, 406, accept)
    t.like(JSON.parse(text), { id: 2 })
    t.regex(text, /application\/json or text\/event-stream/)
  }
  const listen = { jsonrpc: '2.0', id: 'x', method: 'subscriptions/listen', params: { _meta: modernMeta } }
  const refused = await post(fixture, listen, { authorization, accept: json })
  t.is(refused.status, 406)
  t.regex(refused.text, /The response type is text\/event-stream\. Add it/)
})
