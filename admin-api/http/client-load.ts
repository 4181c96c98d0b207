/**
 * How much one client may have open at a time: connections, and behind a trusted proxy, whose connections carry many clients,
 * requests under way. An IPv6 /64 counts as one client.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { clientAddress, clientNetwork } from '#core/access/client-network.ts'
import { isLoopbackAddress } from '#core/outbound/address-guard.ts'
import { OpenCounts } from '#core/fairness/open-counts.ts'
import { Refusal } from '#core/refusals.ts'

const retryAfterSeconds = 5
const forwardingField = /^(?:via|forwarded|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/

/** Whether a proxy passed the request on: it adds one of these fields, which it does not send on its own behalf. */
export const isForwarded = (headers: IncomingHttpHeaders): boolean => Object.keys(headers).some((name) => forwardingField.test(name))

/** Whether a proxy of this machine passed the request on and is not trusted to name the client. */
export const isFromLocalProxy = (address: string, headers: IncomingHttpHeaders): boolean =>
  isLoopbackAddress(address) && isForwarded(headers)

export interface ClientLoadOptions {
  /** For connections and for requests. */
  readonly max: number
  /** Proxies whose connections stand for many clients. */
  readonly trustProxy: readonly string[]
  /** Connections from this machine are a proxy's or the operator's. */
  readonly countsLoopback: boolean
}

export class ClientLoad {
  readonly #options: ClientLoadOptions
  readonly #connections = new OpenCounts()
  readonly #requests = new OpenCounts()

  constructor(options: ClientLoadOptions) {
    this.#options = options
  }

  /** Counts a connection in until it closes. False when its client has too many. */
  admit(socket: Socket): boolean {
    const { max, trustProxy, countsLoopback } = this.#options
    const address = clientAddress(socket.remoteAddress ?? '')
    if (trustProxy.includes(address) || (!countsLoopback && isLoopbackAddress(address))) return true
    const leave = this.#connections.enter(clientNetwork(address), max)
    if (leave) socket.once('close', leave)
    return leave !== undefined
  }

  /**
   * Counts a request in that came over a trusted proxy; others are bounded by their connections. Returns what ends the count.
   * Throws `overloaded` when the client has too many under way.
   */
  begin(socket: Pick<Socket, 'remoteAddress'>, client: string): () => void {
    const { max, trustProxy } = this.#options
    const proxy = clientAddress(socket.remoteAddress ?? '')
    if (!trustProxy.includes(proxy) || client === proxy || trustProxy.includes(client)) return nothing
    const leave = this.#requests.enter(clientNetwork(client), max)
    if (!leave) throw tooMany(max, 'requests')
    return leave
  }

  /** The answer to a connection that was not admitted. */
  refusal(): Refusal {
    return tooMany(this.#options.max, 'connections')
  }
}

const nothing = (): void => {}

function tooMany(max: number, what: string): Refusal {
  const message = `At most ${max} ${what} at a time from one address; close some, or reuse connections. The operator sets this (POSTERN_HTTP_MAX_CONNECTIONS_PER_ADDRESS).`
  return new Refusal('overloaded', message, {
    retryAfterSeconds,
    details: { max, setting: 'POSTERN_HTTP_MAX_CONNECTIONS_PER_ADDRESS' },
  })
}
