/** The address of a visitor, for the limit of connections. */
import type { IncomingMessage } from 'node:http'
import { clientAddress } from '#core/access/client-network.ts'

/**
 * Returns the address of the visitor: behind trusted proxies, the last address that is not a trusted proxy. Clients can forge all earlier
 * addresses.
 */
export function visitorOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>, trustProxy: readonly string[]): string {
  const peer = clientAddress(socket.remoteAddress ?? '')
  const forwarded = headers['x-forwarded-for']
  if (forwarded === undefined || !trustProxy.includes(peer)) return peer
  const addresses = String(forwarded)
    .split(',')
    .map((text) => clientAddress(text.trim()))
  return addresses.findLast((address) => !trustProxy.includes(address)) || peer
}
