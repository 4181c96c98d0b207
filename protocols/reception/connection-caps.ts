/**
 * Limits open connections: in total, per client network before login, and per user. The total includes TLS handshakes and counts a
 * connection from accept to close.
 */
import type { Socket } from 'node:net'
import { clientNetwork } from '#core/access/client-network.ts'

export type Admission = 'admitted' | 'full' | 'too-many-from-address'

/** Counts by name. */
class Tally {
  readonly #counts = new Map<string, number>()

  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  add(name: string, change: 1 | -1): void {
    const count = this.of(name) + change
    if (count > 0) this.#counts.set(name, count)
    else this.#counts.delete(name)
  }
}

export class ConnectionCaps {
  readonly #max: number
  readonly #maxPerAddress: number
  readonly #open = new Set<Socket>()
  readonly #innerOf = new WeakMap<Socket, Socket>()
  readonly #networkOf = new Map<Socket, string>()
  readonly #perNetwork = new Tally()
  /** Ended sessions whose client has not closed the connection, by network, oldest first. */
  readonly #overOf = new Map<string, Set<Socket>>()
  readonly #overNetworkOf = new Map<Socket, string>()
  readonly #userOf = new Map<Socket, string>()
  readonly #perUser = new Tally()

  constructor(max: number, maxPerAddress: number) {
    this.#max = max
    this.#maxPerAddress = maxPerAddress
  }

  /** More than three quarters of all connections are in use. */
  get areScarce(): boolean {
    return this.#open.size > 0.75 * this.#max
  }

  /** Counts the socket, or returns the reason for a refusal. The caller must call `release` after the socket is closed. */
  admit(socket: Socket): Admission {
    if (this.#open.size >= this.#max) return 'full'
    const network = clientNetwork(socket.remoteAddress ?? '')
    if (this.#perNetwork.of(network) >= this.#maxPerAddress) return 'too-many-from-address'
    this.#open.add(socket)
    this.#networkOf.set(socket, network)
    this.#perNetwork.add(network, 1)
    return 'admitted'
  }

  /** Links the TLS socket of a connection to its plain socket. Either one identifies the connection. */
  wrap(socket: Socket, tlsSocket: Socket): void {
    this.#innerOf.set(tlsSocket, socket)
  }

  /**
   * Stops counting an ended session for its network, even if the client keeps the connection open. Each network may have as many ended
   * sessions as open ones; beyond that, the oldest is closed. Otherwise one network could use up all connections with sessions that it ends
   * but does not close.
   */
  end(given: Socket): void {
    const socket = this.#inner(given)
    const network = this.#leaveAddress(socket)
    if (network === undefined || !this.#open.has(socket)) return
    const over = this.#overOf.get(network) ?? new Set()
    this.#overOf.set(network, over.add(socket))
    this.#overNetworkOf.set(socket, network)
    const [oldest] = over
    if (over.size > this.#maxPerAddress && oldest) this.#cutOff(oldest)
  }

  /**
   * Counts the session for its user instead of its network, which many clients can share. Returns false without a change if the user
   * already has half of all connections.
   */
  logIn(given: Socket, user: string): boolean {
    const socket = this.#inner(given)
    if (!this.#open.has(socket)) return true
    const before = this.#userOf.get(socket)
    if (before === user) return true
    if (this.#perUser.of(user) >= Math.max(1, Math.floor(this.#max / 2))) return false
    if (before !== undefined) this.#perUser.add(before, -1)
    this.#userOf.set(socket, user)
    this.#perUser.add(user, 1)
    this.#leaveAddress(socket)
    return true
  }

  /** Safe to call more than once. */
  release(given: Socket): void {
    const socket = this.#inner(given)
    this.#leaveAddress(socket)
    this.#open.delete(socket)
    this.#forget(socket)
    const user = this.#userOf.get(socket)
    if (user === undefined) return
    this.#userOf.delete(socket)
    this.#perUser.add(user, -1)
  }

  #cutOff(socket: Socket): void {
    this.release(socket)
    socket.destroy()
  }

  #forget(socket: Socket): void {
    const network = this.#overNetworkOf.get(socket)
    if (network === undefined) return
    this.#overNetworkOf.delete(socket)
    const over = this.#overOf.get(network)
    over?.delete(socket)
    if (over?.size === 0) this.#overOf.delete(network)
  }

  /** Stops counting the socket for its network. Returns the network, or undefined if the socket no longer counts for one. */
  #leaveAddress(socket: Socket): string | undefined {
    const network = this.#networkOf.get(socket)
    if (network === undefined) return undefined
    this.#networkOf.delete(socket)
    this.#perNetwork.add(network, -1)
    return network
  }

  #inner(socket: Socket): Socket {
    return this.#innerOf.get(socket) ?? socket
  }
}
