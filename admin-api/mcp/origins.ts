/**
 * Browsers name the page whose script sends a request: only pages of this service, and those of the user's own machine such as local
 * inspectors, may reach the endpoint. A service that listens on loopback alone is asked for by its own names alone: under another one, a
 * page would be of the same origin as the endpoint (DNS rebinding; MCP transports, "Security Warning").
 */
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '#core/refusals.ts'
import type { Cors } from '../credentials/credentials.ts'
import { isOwnHost } from '../credentials/own-host.ts'

export interface OwnAddresses {
  /** Origins whose pages may send requests. */
  readonly origins: readonly string[]
  /** Names that the service is asked for by; undefined where any may lead to it. */
  readonly hosts: readonly string[] | undefined
}

/** Throws `misdirected` for a name of others, and `origin_not_allowed` for a page of theirs. Without an origin, no page sends it. */
export function requireOwnAddress(headers: IncomingHttpHeaders, { origins, hosts }: OwnAddresses): void {
  const { origin } = headers
  if (origin !== undefined && !isOwn(origin, origins))
    throw new Refusal('origin_not_allowed', 'The MCP endpoint takes no requests from web pages of other origins.')
  if (hosts && !isOwnHost(headers, hosts))
    throw new Refusal(
      'misdirected',
      'The MCP endpoint is not served under this host name; use the address that its page shows, or set POSTERN_MCP_URL.',
    )
}

/** Headers that scripts of these pages may send. */
const requestHeaders = [
  ...['authorization', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'last-event-id'],
  'x-service-toolsets',
]

/** The same pages read the answers, such as an inspector in a browser (CORS, in the Fetch standard). */
export const corsOf = ({ origins }: OwnAddresses): Cors => ({
  requestHeaders,
  allowedOrigin: (origin) => (isOwn(origin, origins) ? origin : undefined),
})

const isOwn = (origin: string, origins: readonly string[]): boolean => origins.includes(origin) || isOfThisMachine(origin)
const isOfThisMachine = (origin: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(URL.parse(origin)?.hostname ?? '')
