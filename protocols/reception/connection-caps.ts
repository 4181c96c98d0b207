/** How many connections may be open, altogether and from one client address. Counted from the accept to the close, handshakes included. */
import type { Socket } from 'node:net'
import { clientNetwork } from '#core/access/client-network.ts'

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
