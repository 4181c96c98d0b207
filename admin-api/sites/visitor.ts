/** Who a request to a website is from, and how much one visitor may have open at a time. */
import type { IncomingMessage } from 'node:http'
import { clientAddress } from '#core/access/client-network.ts'

/** Behind trusted proxies the last address that none of them added: what stands before it, anybody may have written. */
export function visitorOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>, trustProxy: readonly string[]): string {
  const peer = clientAddress(socket.remoteAddress ?? '')
  const forwarded = headers['x-forwarded-for']
  if (forwarded === undefined || !trustProxy.includes(peer)) return peer
  const addresses = String(forwarded)
    .split(',')
    .map((text) => clientAddress(text.trim()))
  return addresses.findLast((address) => !trustProxy.includes(address)) || peer
}
