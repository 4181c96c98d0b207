/**
 * Agents at the endpoint: the client of the official SDK over HTTP, in both eras of the protocol, with tokens of the authorization server.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ExecutionContext } from 'ava'
import { toolCalls, type ToolCalls } from '../../support/web/tool-calls.ts'
import { mcpResource, startOAuth, type Fields, type OAuthFixture } from '../oauth/oauth-fixture.ts'
import type { FixtureOptions } from '../rest/fixture/rest-fixture.ts'

const allScopes = 'mcp:read mcp:send-sandbox mcp:send mcp:admin'

export type Era = 'legacy' | 'modern'

/** Result of a tool in the form for programs. */
export interface Called {
  readonly isError: boolean
  /** `structuredContent`. */
  readonly value: Readonly<Record<string, unknown>>
  readonly text: string
  readonly meta: Readonly<Record<string, unknown>> | undefined
}

export interface Agent extends ToolCalls {
  readonly client: Client
  readonly token: string
  names(): Promise<readonly string[]>
  call(name: string, given?: Readonly<Record<string, unknown>>): Promise<Called>
}

export interface McpFixture extends OAuthFixture {
  /** Returns a token of a member of the first organization for its first project, or for the choices in `form`. */
  tokenOf(scopes?: string, form?: Fields): Promise<string>
  /** Returns a token of a new anonymous sandbox. */
  anonymousToken(): Promise<string>
  agent(options?: AgentOptions): Promise<Agent>
}

export interface AgentOptions {
  /** By default, a token of the member with all scopes. */
  readonly token?: string
  /** The user also allows settings of the organization. */
  readonly reachesOrganization?: boolean
  readonly era?: Era
  /** Query of the endpoint's address. */
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
}

export async function startMcp(t: ExecutionContext, options: FixtureOptions = {}): Promise<McpFixture> {
  const oauth = await startOAuth(t, options)
  const tokenOf = async (scopes = allScopes, form: Fields = {}) =>
    String((await oauth.signIn({ resource: mcpResource, scope: scopes }, form))['access_token'])
  return {
    ...oauth,
    tokenOf,
    anonymousToken: async () => String((await oauth.bootstrap({ resource: mcpResource })).body['access_token']),
    async agent({ token, reachesOrganization, era = 'modern', query = '', headers = {} } = {}) {
      const bearer = token ?? (await tokenOf(undefined, reachesOrganization ? { reach: 'organization' } : {}))
      const transport = new StreamableHTTPClientTransport(new URL(mcpResource + query), {
        fetch: (url, init) => oauth.fetch(url, init),
        requestInit: { headers: { authorization: `Bearer ${bearer}`, ...headers } },
      })
      const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' }
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      await client.connect(transport)
      t.teardown(() => client.close())
      return agentOf(client, bearer)
    },
  }
}

/** Calls a tool without the SDK, in a revision that returns a missing scope as an error of the tool. */
export async function callDirectly(
  { fetch }: McpFixture,
  token: string,
  name: string,
  given: unknown,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(mcpResource, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
  })
  return { status: response.status, text: await response.text() }
}

/** Returns the message of a JSON response, or the last message of an event stream. */
export function lastMessage(text: string): unknown {
  const data = text.split('\n').filter((line) => line.startsWith('data: '))
  return JSON.parse(data.at(-1)?.slice(6) ?? text)
}

function agentOf(client: Client, token: string): Agent {
  const call = async (name: string, given: Readonly<Record<string, unknown>> = {}): Promise<Called> => {
    const { isError = false, structuredContent, content, _meta: meta } = await client.callTool({ name, arguments: { ...given } })
    const [first] = content as readonly { readonly text?: string }[]
    return { isError, value: structuredContent as Called['value'], text: first?.text ?? '', meta }
  }
  return {
    client,
    token,
    call,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    ...toolCalls(call),
  }
}
