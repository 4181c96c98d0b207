/** Serves pages only under the address of the service. A foreign name that points to this machine gets no pages (DNS rebinding). */
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '#core/refusals.ts'
import { isOwnHost } from '../../credentials/own-host.ts'
import { raw } from '../../operation/answer.ts'
import { prefersPage, varies } from '../../http/negotiation.ts'
import type { Operation } from '../../operation/operation.ts'
import { fullPath, type PageLocation } from './page-operation.ts'

/** Returns the operations with a check that throws `misdirected` for a foreign host name. */
export const underOwnAddress = (origin: string, operations: readonly Operation[]): readonly Operation[] =>
  operations.map((served) => ({
    ...served,
    handle(input) {
      requireOwnAddress(input.headers, origin)
      if (served.method === 'GET' && isOtherLoopback(input.headers, origin) && prefersPage(input.headers))
        return raw('', {
          contentType: 'text/html; charset=utf-8',
          status: 307,
          headers: { location: origin + fullPath(served.path, input as PageLocation), ...varies },
        })
      return served.handle(input)
    },
  }))

/**
 * Returns whether the request uses the same machine and port by IP address. Browsers treat it as another site, with other cookies and
 * without passkeys.
 */
function isOtherLoopback({ host = '' }: IncomingHttpHeaders, origin: string): boolean {
  const [asked, own] = [URL.parse(`http://${host}`), new URL(origin)]
  return own.hostname === 'localhost' && asked?.port === own.port && /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/.test(asked.hostname)
}

function requireOwnAddress(headers: IncomingHttpHeaders, origin: string): void {
  if (isOwnHost(headers, [new URL(origin).hostname])) return
  throw new Refusal('misdirected', `This service is not served under this host name. Open it at ${origin}.`)
}
