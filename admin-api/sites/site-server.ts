/**
 * The listener of managed websites. Hosts choose the site; there is no credential, cookie or operation here. In front of it stands a proxy
 * with TLS, which may ask `/internal/tls-allow?domain=` whether a certificate for a host may be ordered.
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
  /** Until the fields of a request are there, from its first octet. */
  readonly headersMs: number
  /** Until a request is there as a whole. */
  readonly requestMs: number
  /** Nothing was taken of an answer for so long, and nothing sent: whoever reads so slowly holds a place that others want. */
  readonly idleMs: number
  /** How often the first two are looked at. */
  readonly checkMs: number
}

const defaultLimits: SiteServerLimits = { headersMs: 15_000, requestMs: 30_000, idleMs: 60_000, checkMs: 5000 }

export interface SiteServerOptions {
  readonly listen: { readonly host: string; readonly port: number; readonly bound?: NetServer | undefined }
  readonly views: Pick<SiteViews, 'cached' | 'find' | 'isServed'>
  readonly answers: Pick<SiteAnswers, 'answer' | 'known'>
  readonly traffic: { count(organizationId: string, siteId: string, bytes: number): void }
  readonly maxConnections: number
  /** Connections of one visitor, and behind a trusted proxy requests under way; an IPv6 /64 counts as one. */
  readonly maxPerAddress: number
  /** Proxies whose `X-Forwarded-For` is believed. */
  readonly trustProxy: readonly string[]
  /** Connections from this machine count as well. */
  readonly countsLoopback?: boolean
  readonly limits?: Partial<SiteServerLimits>
  /** Is notified of the port that was bound. */
  readonly onListening: (port: number) => void
  /** Is notified of what cannot be answered. */
  readonly onError: (error: unknown) => void
}

const keepAliveMs = 65_000
const idleSweepMs = 20
const maxHeaderBytes = 16_384

export class SiteServer {
  readonly #options: SiteServerOptions
  /** Octets of each connection that are counted. */
  readonly #counted = new WeakMap<Socket, number>()
  readonly #visitors: ClientLoad
  #server: Server | undefined

  constructor(options: SiteServerOptions) {
    this.#options = options
    const { maxPerAddress: max, trustProxy, countsLoopback = false } = options
    this.#visitors = new ClientLoad({ max, trustProxy, countsLoopback })
  }

  /** Starts to accept; resolves with the address that was bound, rejects when it cannot be. */
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
    server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => this.#begin(req, res)) // nothing here takes a body
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

  /** Stops accepting, lets answers finish for at most `deadlineMs`, then cuts what is left. */
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

  /** Behind a proxy, one connection is of many visitors. */
  #begin(req: IncomingMessage, res: ServerResponse): void {
    const length = req.headers['content-length'] ?? '0'
    if (length !== '0' || req.headers['transfer-encoding'] !== undefined) res.shouldKeepAlive = false // nothing here reads a body
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

  /** What went to the connection since it was counted last; answers of one connection end one after the other. */
  #countAtEnd(socket: Socket, res: ServerResponse, { organizationId, siteId }: SiteView): void {
    res.once('close', () => {
      const bytes = socket.bytesWritten - (this.#counted.get(socket) ?? 0)
      this.#counted.set(socket, socket.bytesWritten)
      if (bytes > 0) this.#options.traffic.count(organizationId, siteId, bytes)
    })
  }

  /** 200 where a certificate for the host may be ordered, as proxies that order them on demand ask on their own behalf. */
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
