/** How many connections may be open, altogether and from one client address. Counted from the accept to the close, handshakes included. */
import { isIPv6, type Socket } from 'node:net'

export type Admission = 'admitted' | 'full' | 'too-many-from-address'

export class ConnectionCaps {
  readonly #max: number
  readonly #maxPerAddress: number
  readonly #networkOf = new Map<Socket, string>()
  readonly #perNetwork = new Map<string, number>()

  constructor(max: number, maxPerAddress: number) {
    this.#max = max
    this.#maxPerAddress = maxPerAddress
  }

  /** Counts the socket in, or says why not. The caller must call `release` once it is closed. */
  admit(socket: Socket): Admission {
    if (this.#networkOf.size >= this.#max) return 'full'
    const network = clientNetwork(socket.remoteAddress ?? '')
    const open = this.#perNetwork.get(network) ?? 0
    if (open >= this.#maxPerAddress) return 'too-many-from-address'
    this.#perNetwork.set(network, open + 1)
    this.#networkOf.set(socket, network)
    return 'admitted'
  }

  /** Safe to call more than once. */
  release(socket: Socket): void {
    const network = this.#networkOf.get(socket)
    if (network === undefined) return
    this.#networkOf.delete(socket)
    const open = (this.#perNetwork.get(network) ?? 1) - 1
    if (open > 0) this.#perNetwork.set(network, open)
    else this.#perNetwork.delete(network)
  }
}

/** An IPv4 address, also one mapped into IPv6, or the /64 of an IPv6 address: what one client holds at no cost. */
export function clientNetwork(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.replace(/%.*$/, '').split('::')
  const groups = head.split(':').filter(Boolean)
  const last = tail?.split(':').filter(Boolean) ?? []
  const missing = tail === undefined ? 0 : 8 - groups.length - last.length
  const full = [...groups, ...Array.from({ length: Math.max(0, missing) }, () => '0'), ...last]
  return `${full
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
