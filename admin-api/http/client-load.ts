/**
 * Limits open connections per client. Behind a trusted proxy, whose connections carry many clients, it limits requests in progress instead.
 * An IPv6 /64 counts as one client.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { clientAddress, clientNetwork } from '#core/access/client-network.ts'
import { isLoopbackAddress } from '#core/outbound/address-guard.ts'
import { OpenCounts } from '#core/fairness/open-counts.ts'
import { Refusal } from '#core/refusals.ts'

const retryAfterSeconds = 5
const forwardingField = /^(?:via|forwarded|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/

/** Whether a proxy forwarded the request: proxies add one of these fields only when forwarding. */
export const isForwarded = (headers: IncomingHttpHeaders): boolean => Object.keys(headers).some((name) => forwardingField.test(name))

/** Whether a proxy on this machine forwarded the request and is not trusted to name the client. */
export const isFromLocalProxy = (address: string, headers: IncomingHttpHeaders): boolean =>
  isLoopbackAddress(address) && isForwarded(headers)

export interface ClientLoadOptions {
  /** Limit of connections and of requests. */
  readonly max: number
  /** Proxies whose connections carry many clients. */
  readonly trustProxy: readonly string[]
  /** Whether connections from this machine count; by default they belong to a proxy or the operator. */
  readonly countsLoopback: boolean
}

export class ClientLoad {
  readonly #options: ClientLoadOptions
  readonly #connections = new OpenCounts()
  readonly #requests = new OpenCounts()

  constructor(options: ClientLoadOptions) {
    this.#options = options
  }

  /** Counts a connection until it closes. Returns false if its client has too many. */
  admit(socket: Socket): boolean {
    const { max, trustProxy, countsLoopback } = this.#options
    const address = clientAddress(socket.remoteAddress ?? '')
    if (trustProxy.includes(address) || (!countsLoopback && isLoopbackAddress(address))) return true
    const leave = this.#connections.enter(clientNetwork(address), max)
    if (leave) socket.once('close', leave)
    return leave !== undefined
  }

  /**
   * Counts a request from a trusted proxy; other requests are limited by their connections. Returns a function that ends the count. Throws
   * `overloaded` if the client has too many requests in progress.
   */
  begin(socket: Pick<Socket, 'remoteAddress'>, client: string): () => void {
    const { max, trustProxy } = this.#options
    const proxy = clientAddress(socket.remoteAddress ?? '')
    if (!trustProxy.includes(proxy) || client === proxy || trustProxy.includes(client)) return nothing
    const leave = this.#requests.enter(clientNetwork(client), max)
    if (!leave) throw tooMany(max, 'requests')
    return leave
  }

  /** Returns the response for a refused connection. */
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
