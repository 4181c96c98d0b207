/**
 * The listener of managed websites. The host selects the site; there are no credentials, cookies or operations. A proxy with TLS forwards
 * the requests. It may request `/internal/tls-allow?domain=` to learn whether it may order a certificate for a host.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as NetServer, Socket } from 'node:net'
import { statePage } from '#core/sites/serving/neutral-pages.ts'
import type { SiteAnswers, SiteRequest } from '#core/sites/serving/site-answers.ts'
import type { SiteView, SiteViews } from '#core/sites/serving/site-views.ts'
import { ClientLoad, isForwarded } from '../http/client-load.ts'
import { hostName, isAddress, requestTarget, type RequestTarget } from './host-name.ts'
import { visitorOf } from './visitor.ts'
import { writeAnswer } from './write-answer.ts'

/** In milliseconds. */
export interface SiteServerLimits {
  /** From the first octet of a request to the end of its header. */
  readonly headersMs: number
  /** From the first octet of a request to its end. */
  readonly requestMs: number
  /** A connection without any transfer for this time is closed, since slow readers occupy connections. */
  readonly idleMs: number
  /** Interval of the checks of `headersMs` and `requestMs`. */
  readonly checkMs: number
}

const defaultLimits: SiteServerLimits = { headersMs: 15_000, requestMs: 30_000, idleMs: 60_000, checkMs: 5000 }

export interface SiteServerOptions {
  readonly listen: { readonly host: string; readonly port: number; readonly bound?: NetServer | undefined }
  readonly views: Pick<SiteViews, 'cached' | 'find' | 'isServed'>
  readonly answers: Pick<SiteAnswers, 'answer' | 'known'>
  readonly traffic: { count(organizationId: string, siteId: string, bytes: number): void }
  readonly maxConnections: number
  /** Limit of connections of one visitor, and of open requests behind a trusted proxy; an IPv6 /64 counts as one. */
  readonly maxPerAddress: number
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxy: readonly string[]
  /** Includes connections from this machine in the limit. */
  readonly countsLoopback?: boolean
  readonly limits?: Partial<SiteServerLimits>
  /** Called with the bound port. */
  readonly onListening: (port: number) => void
  /** Called with errors that prevent a response. */
  readonly onError: (error: unknown) => void
}

const keepAliveMs = 65_000
const idleSweepMs = 20
const maxHeaderBytes = 16_384

export class SiteServer {
  readonly #options: SiteServerOptions
  /** Counted octets of each connection. */
  readonly #counted = new WeakMap<Socket, number>()
  readonly #visitors: ClientLoad
  #server: Server | undefined

  constructor(options: SiteServerOptions) {
    this.#options = options
    const { maxPerAddress: max, trustProxy, countsLoopback = false } = options
    this.#visitors = new ClientLoad({ max, trustProxy, countsLoopback })
  }

  /** Starts to accept connections. Resolves with the bound address, and rejects if the port cannot be bound. */
  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    const { listen, maxConnections, limits } = this.#options
    const { headersMs, requestMs, idleMs, checkMs } = { ...defaultLimits, ...limits }
    const times = {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout: keepAliveMs,
    }
    const server = createServer({ ...times, maxHeaderSize: maxHeaderBytes, noDelay: true }, (req, res) => this.#begin(req, res))
    server.maxConnections = maxConnections
    server.timeout = idleMs
    server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => this.#begin(req, res)) // no request needs a body
    server.prependListener('connection', (socket) => {
      if (!this.#visitors.admit(socket)) socket.destroy()
    })
    server.listen(listen.bound ?? { host: listen.host, port: listen.port, backlog: 4096 })
    await once(server, 'listening')
    this.#server = server
    const { address, port } = server.address() as AddressInfo
    this.#options.onListening(port)
    return { host: address, port }
  }

  /** Stops accepting connections, lets responses finish for at most `deadlineMs`, then closes the remaining connections. */
  async close(deadlineMs: number): Promise<void> {
    const server = this.#server
    if (!server?.listening) return
    const closed = once(server, 'close')
    server.close()
    const sweep = setInterval(() => server.closeIdleConnections(), idleSweepMs)
    const cut = setTimeout(() => server.closeAllConnections(), deadlineMs)
    await closed
    clearInterval(sweep)
    clearTimeout(cut)
  }

  /** Counts requests by visitor behind a proxy, since one connection carries requests of many visitors. */
  #begin(req: IncomingMessage, res: ServerResponse): void {
    const length = req.headers['content-length'] ?? '0'
    if (length !== '0' || req.headers['transfer-encoding'] !== undefined) res.shouldKeepAlive = false // request bodies are not read
    const { trustProxy } = this.#options
    if (trustProxy.length > 0)
      try {
        res.once('close', this.#visitors.begin(req.socket, visitorOf(req, trustProxy)))
      } catch {
        return void writeAnswer(res, statePage('paused', req.method ?? ''))
      }
    const asked = requestTarget(req.url ?? '/', req.rawHeaders)
    if (!asked) return void writeAnswer(res, statePage(400, req.method ?? ''))
    const { host, target } = asked
    const view = this.#options.views.cached(host)
    if (!view && isAddress(host)) return void this.#allow(req, res, target)
    const request = requestOf(req, asked)
    const known = view && this.#options.answers.known(view, request)
    if (!known) return void this.#serve(req, res, host, request)
    this.#countAtEnd(req.socket, res, view)
    void writeAnswer(res, known)
  }

  async #serve(req: IncomingMessage, res: ServerResponse, host: string, request: SiteRequest): Promise<void> {
    const { method } = request
    try {
      const { views, answers } = this.#options
      const view = views.cached(host) ?? (await views.find(host))
      if (!view) return await writeAnswer(res, statePage(404, method))
      this.#countAtEnd(req.socket, res, view)
      await writeAnswer(res, await answers.answer(view, request))
    } catch (error) {
      this.#options.onError(error)
      if (res.headersSent) res.destroy()
      else await writeAnswer(res, statePage('paused', method))
    }
  }

  /** Counts the octets written since the previous response. Responses of one connection end one after the other. */
  #countAtEnd(socket: Socket, res: ServerResponse, { organizationId, siteId }: SiteView): void {
    res.once('close', () => {
      const bytes = socket.bytesWritten - (this.#counted.get(socket) ?? 0)
      this.#counted.set(socket, socket.bytesWritten)
      if (bytes > 0) this.#options.traffic.count(organizationId, siteId, bytes)
    })
  }

  /** Returns 200 if a certificate for the host may be ordered. Proxies that order certificates on demand send this request themselves. */
  async #allow(req: IncomingMessage, res: ServerResponse, target: string): Promise<void> {
    try {
      const { pathname, searchParams } = new URL(target, 'http://address.invalid')
      const isAsked = pathname === '/internal/tls-allow' && !isForwarded(req.headers)
      const domain = isAsked ? hostName(searchParams.get('domain') ?? '') : ''
      const isServed = domain !== '' && (await this.#options.views.isServed(domain))
      await writeAnswer(
        res,
        isServed ? { status: 200, headers: { 'content-length': 0 }, body: undefined } : statePage(404, req.method ?? ''),
      )
    } catch (error) {
      this.#options.onError(error)
      res.destroy()
    }
  }
}

const requestOf = ({ method = '', headers }: IncomingMessage, { host, target }: RequestTarget): SiteRequest => ({
  ...{ method, host, target },
  acceptEncoding: headers['accept-encoding'],
  ifNoneMatch: headers['if-none-match'],
  ifRange: headers['if-range'] as string | undefined,
  range: headers.range,
})
