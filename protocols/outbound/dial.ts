/** Opens TCP connections by host name: resolves, checks every address, and tries the addresses in turn (RFC 8305 §5, simplified). */
import type { Socket } from 'node:net'
import { connect as connectSocket } from 'node:net'
import type { Clock, Timer } from '#core/clock.ts'
import type { AddressGuard } from '#core/outbound/address-guard.ts'
import type { ResolveProblem, Resolver } from '#core/outbound/resolver.ts'
import { addressesOf, ResolveError } from '#core/outbound/resolver.ts'
import { OutboundFailure } from './failure.ts'

/** Opens a socket to an address literal. Tests replace it. */
export type Dial = (address: string, port: number) => Socket

/** Timeouts of opening a connection, in milliseconds. */
export interface OpeningDeadlines {
  /** The TCP connection, over all addresses of the host. */
  readonly connect: number
  /** Delay before trying the next address in parallel with a silent one (RFC 8305 §5). */
  readonly nextAddress: number
  /** The TLS handshake. */
  readonly tls: number
}

export const openingDeadlines: OpeningDeadlines = { connect: 10_000, nextAddress: 250, tls: 20_000 }

/** Dependencies of opening a connection. */
export interface Network {
  readonly resolver: Resolver
  readonly guard: AddressGuard
  readonly clock: Clock
  readonly deadlines: OpeningDeadlines
  readonly dial: Dial
}

/** An open connection and the address literal of its peer. */
export interface Connected {
  readonly socket: Socket
  readonly address: string
}

// The host is always a literal, so no second look-up can return another address.
export const dialDirectly: Dial = (address, port) => connectSocket({ host: address, port, noDelay: true })

const resolveCodes = { not_found: 'dns_not_found', timeout: 'dns_timeout', failed: 'dns_failed' } as const satisfies Record<
  ResolveProblem,
  string
>

/** Returns the permitted addresses of a host, best first. Throws `OutboundFailure` without one. */
export async function permittedAddresses(
  { resolver, guard }: Pick<Network, 'resolver' | 'guard'>,
  host: string,
  port: number,
): Promise<readonly string[]> {
  const addresses = await addressesOf(resolver, host).catch((error: unknown) => {
    const problem = error instanceof ResolveError ? error.problem : 'failed'
    throw new OutboundFailure(resolveCodes[problem], 'dns', undefined, error)
  })
  const permitted = addresses.filter((address) => guard(address, port))
  // The address is not reported, because it may belong to the operator's network.
  if (permitted.length === 0) throw new OutboundFailure('address_forbidden', 'dns')
  return permitted
}

/** Connects to the first address that accepts. Throws `OutboundFailure`. */
export function connectFirst(network: Network, addresses: readonly string[], port: number, signal: AbortSignal): Promise<Connected> {
  return new Promise((resolve, reject) => {
    const race = new Race(network, addresses, port, (outcome) => {
      signal.removeEventListener('abort', onAbort)
      if (outcome instanceof OutboundFailure) reject(outcome)
      else resolve(outcome)
    })
    const onAbort = (): void => race.end(new OutboundFailure('aborted', 'connect'))
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    else race.start()
  })
}

class Race {
  readonly #network: Network
  readonly #left: string[]
  readonly #port: number
  readonly #done: (outcome: Connected | OutboundFailure) => void
  readonly #open = new Set<Socket>()
  #next: Timer | undefined
  #limit: Timer | undefined
  #over = false

  constructor(network: Network, addresses: readonly string[], port: number, done: (outcome: Connected | OutboundFailure) => void) {
    this.#network = network
    this.#left = [...addresses]
    this.#port = port
    this.#done = done
  }

  start(): void {
    const { clock, deadlines } = this.#network
    this.#limit = clock.after(deadlines.connect, () => this.end(new OutboundFailure('connect_timeout', 'connect')))
    this.#tryNext()
  }

  end(outcome: Connected | OutboundFailure): void {
    if (this.#over) return
    this.#over = true
    this.#next?.cancel()
    this.#limit?.cancel()
    for (const socket of this.#open) if (outcome instanceof OutboundFailure || socket !== outcome.socket) socket.destroy()
    this.#done(outcome)
  }

  #tryNext(): void {
    this.#next?.cancel()
    const address = this.#left.shift()
    if (address === undefined) return
    const socket = this.#network.dial(address, this.#port)
    this.#open.add(socket)
    const onError = (error: Error): void => this.#failed(socket, error)
    socket.once('connect', () => {
      socket.off('error', onError)
      this.end({ socket, address })
    })
    socket.on('error', onError)
    if (this.#left.length > 0) this.#next = this.#network.clock.after(this.#network.deadlines.nextAddress, () => this.#tryNext())
  }

  #failed(socket: Socket, error: Error): void {
    this.#open.delete(socket)
    if (this.#over) return
    if (this.#left.length > 0) return this.#tryNext()
    if (this.#open.size > 0) return
    const refused = 'code' in error && error.code === 'ECONNREFUSED'
    this.end(new OutboundFailure(refused ? 'connect_refused' : 'connect_failed', 'connect'))
  }
}
