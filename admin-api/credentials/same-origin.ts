/** Checks that a page of this service sent a form, from the headers of browsers (Fetch Metadata; RFC 6454 §7). */
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '#core/refusals.ts'

/** Throws `insufficient_scope` for a form of another site, and if the browser does not state the origin. */
export function requireSameOrigin(headers: IncomingHttpHeaders, ownOrigin: string): void {
  const site = headers['sec-fetch-site']
  if (site === undefined ? isOwn(headers, ownOrigin) : site === 'same-origin') return
  throw new Refusal('insufficient_scope', 'This form was not submitted from a page of this service. Open the page again and retry.')
}

/** Also accepts the host of the request as origin: browsers set it, and cookies are bound to it. */
function isOwn({ origin, host }: IncomingHttpHeaders, ownOrigin: string): boolean {
  return origin === ownOrigin || (host !== undefined && URL.parse(origin ?? '')?.host === host)
}
