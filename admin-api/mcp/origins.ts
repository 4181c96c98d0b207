/**
 * Checks of `Origin` and `Host` at the MCP endpoint. Browsers send the origin of the page whose script sends a request. Only pages of this
 * service and of the user's own machine, such as local inspectors, are allowed.
 *
 * A service that listens only on loopback accepts only its own host names. Otherwise a page could have the same origin as the endpoint (DNS
 * rebinding; MCP transports, "Security Warning").
 */
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '#core/refusals.ts'
import type { Cors } from '../credentials/credentials.ts'
import { isOwnHost } from '../credentials/own-host.ts'

export interface OwnAddresses {
  /** Origins whose pages may send requests. */
  readonly origins: readonly string[]
  /** Host names that requests may use; undefined if every name is allowed. */
  readonly hosts: readonly string[] | undefined
}

/**
 * Throws `misdirected` for a foreign host name, and `origin_not_allowed` for a foreign page. A request without `Origin` does not come from
 * a page.
 */
export function requireOwnAddress(headers: IncomingHttpHeaders, { origins, hosts }: OwnAddresses): void {
  const { origin } = headers
  if (origin !== undefined && !isOwn(origin, origins))
    throw new Refusal('origin_not_allowed', 'The MCP endpoint does not accept requests from web pages of other origins.')
  if (hosts && !isOwnHost(headers, hosts))
    throw new Refusal(
      'misdirected',
      'The MCP endpoint is not served under this host name; use the address that its page shows, or set POSTERN_MCP_URL.',
    )
}

/** Headers that scripts of allowed pages may send. */
const requestHeaders = [
  ...['authorization', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'last-event-id'],
  'x-service-toolsets',
]

/** Lets allowed pages, such as an inspector in a browser, read responses (CORS, in the Fetch standard). */
export const corsOf = ({ origins }: OwnAddresses): Cors => ({
  requestHeaders,
  allowedOrigin: (origin) => (isOwn(origin, origins) ? origin : undefined),
})

const isOwn = (origin: string, origins: readonly string[]): boolean => origins.includes(origin) || isOfThisMachine(origin)
const isOfThisMachine = (origin: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(URL.parse(origin)?.hostname ?? '')
