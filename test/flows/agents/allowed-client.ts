/** Clients of the official SDK that know only an address. When they request access, a person allows it on the page. */
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { toolCalls, type ToolCalls } from '../../support/web/tool-calls.ts'
import type { Person } from './person.ts'

type Json = Readonly<Record<string, unknown>>

/** No program listens there; the person reads the address of the redirect. */
const redirectUri = 'http://127.0.0.1:33418/callback'

/** The stored access of a client, and the person who allows it. */
export function accessBy(person: Person) {
  const kept: { discovered?: unknown; client?: unknown; tokens?: unknown; verifier?: string; back?: URLSearchParams; asked: number } = {
    asked: 0,
  }
  return {
    kept,
    redirectUrl: redirectUri,
    clientMetadata: { redirect_uris: [redirectUri], client_name: 'Test agent', token_endpoint_auth_method: 'none' },
    saveDiscoveryState: (found: unknown) => void (kept.discovered = found),
    discoveryState: () => kept.discovered,
    clientInformation: () => kept.client,
    saveClientInformation: (client: unknown) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens: unknown) => void (kept.tokens = tokens),
    saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? '',
    async redirectToAuthorization(url: URL): Promise<void> {
      kept.asked++
      kept.back = (await person.consent(url)).searchParams
    },
  }
}

export interface AllowedClient extends ToolCalls {
  readonly client: Client
  /** Number of times the person was asked. */
  asked(): number
  call(name: string, given?: Json): Promise<{ readonly isError: boolean; readonly value: Json }>
}

export async function allowedClient(address: string, person: Person, mode: 'auto' | 'legacy' = 'auto'): Promise<AllowedClient> {
  const provider = accessBy(person)
  const transportOf = () => new StreamableHTTPClientTransport(new URL(address), { authProvider: provider as never })
  let transport = transportOf()
  const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode } })
  /** Runs the work again after the person has allowed it. */
  const allowed = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error
      await transport.finishAuth(provider.kept.back ?? new URLSearchParams())
      return work()
    }
  }
  await allowed(() => {
    transport = transportOf()
    return client.connect(transport)
  })
  const call: AllowedClient['call'] = async (name, given = {}) => {
    const { isError = false, structuredContent } = await allowed(() => client.callTool({ name, arguments: { ...given } }))
    return { isError, value: structuredContent as Json }
  }
  return {
    client,
    asked: () => provider.kept.asked,
    call,
    ...toolCalls(call),
  }
}
