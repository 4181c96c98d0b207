/** Opens a connection for a URL: runs each step, with verified TLS for `https:`. */
import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { systemClock, type Clock } from '#core/clock.ts'
import type { AddressGuard } from '#core/outbound/address-guard.ts'
import type { Resolver } from '#core/outbound/resolver.ts'
import { connectFirst, dialDirectly, permittedAddresses, type Dial, type Network, type OpeningDeadlines } from './dial.ts'
import type { OpeningStep } from './failure.ts'
import { clientContext, secure, tlsFacts, type TlsFacts } from './tls.ts'

export interface SecureNetwork extends Network {
  /** TLS context with the trusted authorities. */
  readonly context: () => SecureContext
}

export interface OutboundOptions {
  readonly resolver: Resolver
  readonly guard: AddressGuard
  readonly clock?: Clock | undefined
  /** Trusted certificates in PEM, in addition to the public authorities. */
  readonly trusted?: readonly string[] | undefined
  /** Opens sockets. Default: the network. */
  readonly dial?: Dial | undefined
}

export const outboundNetwork = <D extends OpeningDeadlines>(
  { resolver, guard, clock = systemClock, trusted = [], dial = dialDirectly }: OutboundOptions,
  deadlines: D,
): SecureNetwork & { readonly deadlines: D } => ({ resolver, guard, clock, dial, deadlines, context: clientContext(trusted) })

/** Destination of a connection, and whether it uses TLS. */
export interface Target {
  /** A host name or an address literal without brackets. */
  readonly host: string
  readonly port: number
  readonly encrypted: boolean
}

export interface Connection {
  readonly socket: Socket
  /** Address literal of the peer. */
  readonly address: string
  readonly tls: TlsFacts | undefined
}

/** Called after each successful step, with its milliseconds. */
export type OnStep = (step: OpeningStep, detail: string, milliseconds: number) => void

export function targetOf({ protocol, hostname, port }: URL): Target {
  const encrypted = protocol === 'https:'
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (encrypted ? 443 : 80), encrypted }
}

/** Opens a connection. If it throws `OutboundFailure`, it has closed all sockets. */
export async function openConnection(
  network: SecureNetwork,
  { host, port, encrypted }: Target,
  signal: AbortSignal,
  onStep?: OnStep,
): Promise<Connection> {
  const { clock, deadlines } = network
  let since = clock.monotonic()
  const note = (step: OpeningStep, detail: string): void => {
    const now = clock.monotonic()
    onStep?.(step, detail, now - since)
    since = now
  }
  const addresses = await permittedAddresses(network, host, port)
  note('dns', `${host} has ${addresses.length === 1 ? 'an address' : `${addresses.length} addresses`} that the service may connect to.`)
  const { socket: bare, address } = await connectFirst(network, addresses, port, signal)
  note('connect', `Connected to ${address}:${port}.`)
  if (!encrypted) return { socket: bare, address, tls: undefined }
  const context = network.context()
  const socket = await secure(bare, { host, verify: true, context, clock, deadlineMs: deadlines.tls, signal })
  const tls = tlsFacts(socket)
  note('tls', `${tls.version}, ${tls.cipher}; the certificate is valid for ${host}.`)
  return { socket, address, tls }
}
