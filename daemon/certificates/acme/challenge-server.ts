/** Listener for HTTP-01 (RFC 8555 §8.3): answers the certificate authority, and redirects other requests to https. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import type { Endpoint } from '#config/settings/formats.ts'
import type { Challenges } from './challenges.ts'

interface BindEndpoint extends Endpoint {
  /** Server that a start as root has already bound to the address. */
  readonly bound?: NetServer | undefined
}

const place = '/.well-known/acme-challenge/'
const timeoutMs = 10_000
const maxConnections = 256

export class ChallengeServer {
  readonly #listen: readonly BindEndpoint[]
  readonly #challenges: Challenges
  readonly #servers: Server[] = []
  readonly #target: string | undefined

  /** `baseUrl`: target of redirects, if it is https. */
  constructor(listen: readonly BindEndpoint[], challenges: Challenges, baseUrl: string) {
    this.#listen = listen
    this.#challenges = challenges
    this.#target = baseUrl.startsWith('https:') ? baseUrl : undefined
  }

  /** Starts the servers and returns the bound addresses. */
  async listen(): Promise<readonly Endpoint[]> {
    const opened: Endpoint[] = []
    for (const { host, port, bound } of this.#listen) {
      const server = createServer(
        { headersTimeout: timeoutMs, requestTimeout: timeoutMs, connectionsCheckingInterval: timeoutMs },
        (request, response) => this.#answer(request, response),
      )
      server.maxConnections = maxConnections
      this.#servers.push(server)
      if (bound) server.listen(bound)
      else server.listen(port, host)
      await once(server, 'listening')
      const real = server.address() as AddressInfo
      opened.push({ host: real.address, port: real.port })
    }
    return opened
  }

  async close(): Promise<void> {
    const closing = this.#servers.splice(0).map(async (server) => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    })
    await Promise.all(closing)
  }

  #answer({ method, url = '' }: IncomingMessage, response: ServerResponse): void {
    response.setHeader('connection', 'close')
    response.setHeader('x-content-type-options', 'nosniff')
    const isRead = method === 'GET' || method === 'HEAD'
    const text = isRead && url.startsWith(place) ? this.#challenges.textOf(url.slice(place.length)) : undefined
    if (text !== undefined) response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(text)
    else if (this.#target === undefined || !url.startsWith('/') || url.startsWith(place)) response.writeHead(404).end()
    else response.writeHead(308, { location: this.#target + url }).end()
  }
}
