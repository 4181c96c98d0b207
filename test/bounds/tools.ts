/** Attacks on every argument of the agents' tools, by a person who took over a sandbox. */
import type { MeasuredDaemon } from './daemon.ts'
import type { Schema } from './daemon-probe.ts'
import { fieldBodies, type Attack } from './json-attacks.ts'

export interface ToolUser {
  readonly token: string
  readonly tools: readonly { readonly name: string; readonly inputSchema: Schema }[]
}

interface Client {
  send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    bytes: Buffer,
  ): Promise<{ readonly status: number; readonly text: string }>
}

/** The signed-in person. */
interface Person {
  readonly origin: string
  readonly cookie: string
  readonly csrf: string
}

interface HostileCall extends Attack {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

type Json = Readonly<Record<string, unknown>>

const path = '/mcp'
const form = { 'content-type': 'application/x-www-form-urlencoded' }

const headersWith = (token: string) => ({
  ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
  authorization: `Bearer ${token}`,
})

const request = (method: string, params: string): Buffer => Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`)

/** Returns the JSON in a response that is an event stream. */
const resultOf = (text: string): Json => {
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text
  return (JSON.parse(data) as { readonly result?: Json }).result ?? {}
}

/** Creates a sandbox with one call. The person takes it over in the browser and allows everything. */
export async function agentOf(client: Client, { daemon }: MeasuredDaemon, { origin, cookie, csrf }: Person): Promise<ToolUser> {
  const token = async (fields: Record<string, string>): Promise<Json> => {
    const body = new URLSearchParams({ client_id: 'anonymous-bootstrap', ...fields })
    return JSON.parse((await client.send('POST', '/oauth/token', form, Buffer.from(String(body)))).text) as Json
  }
  const found = await client.send('GET', '/.well-known/oauth-protected-resource/mcp', {}, Buffer.alloc(0))
  const resource = String((JSON.parse(found.text) as Json)['resource'])
  const first = await token({ grant_type: 'client_credentials', resource })
  const params = '{"name":"account_claim","arguments":{"email":"owner@example.ch"}}'
  const claimed = await client.send('POST', path, headersWith(String(first['access_token'])), request('tools/call', params))
  const { user_code: code } = (resultOf(claimed.text)['structuredContent'] ?? {}) as { readonly user_code?: string }
  const allowed = Buffer.from(String(new URLSearchParams({ csrf, send_sandbox: 'on', send_live: 'on', admin: 'on' })))
  const { status } = await client.send('POST', `/claims/${String(code)}`, { ...form, origin, cookie }, allowed)
  if (status !== 303) throw new Error(`the sandbox was not taken over at ${daemon.addresses.http}: ${status} ${claimed.text.slice(0, 300)}`)
  const next = String((await token({ grant_type: 'refresh_token', refresh_token: String(first['refresh_token']) }))['access_token'])
  const listed = await fetch(`http://${daemon.addresses.http}${path}`, {
    ...{ method: 'POST', headers: headersWith(next), body: new Uint8Array(request('tools/list', '{}')) },
  })
  return { token: next, tools: resultOf(await listed.text())['tools'] as ToolUser['tools'] }
}

/** Attacks every argument of every tool: too large, too many and too deep. */
export function* hostileCalls(
  { token, tools }: ToolUser,
  { bodyBytes, texts }: { readonly bodyBytes: number; readonly texts: number },
): Iterable<HostileCall> {
  for (const { name, inputSchema } of tools)
    for (const { title, bytes } of fieldBodies(inputSchema, {}, bodyBytes, texts)) {
      const wrapped: Attack = {
        title: `${name}, ${title}`,
        bytes: () => request('tools/call', `{"name":"${name}","arguments":${bytes().toString()}}`),
      }
      yield { ...wrapped, operation: 'callMcp', method: 'POST', path, headers: headersWith(token) }
    }
}
