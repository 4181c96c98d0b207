/**
 * Browsers name the page whose script sends a request: only pages of this service,
 * and those of the user's own machine such as local inspectors, may reach the endpoint (DNS rebinding).
 */
import { Refusal } from '#core/refusals.ts'

/** Throws `origin_not_allowed` for a page of another origin. Without an origin, no page sends the request. */
export function requireOwnOrigin(origin: string | undefined, own: readonly string[]): void {
  if (origin === undefined || own.includes(origin) || isOfThisMachine(origin)) return
  throw new Refusal('origin_not_allowed', 'The MCP endpoint takes no requests from web pages of other origins.')
}

const isOfThisMachine = (origin: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(URL.parse(origin)?.hostname ?? '')
