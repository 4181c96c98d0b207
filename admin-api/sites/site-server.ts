/**
 * The listener of managed websites. Hosts choose the site; there is no credential, cookie or operation here. In front of it stands a proxy
 * with TLS, which may ask `/internal/tls-allow?domain=` whether a certificate for a host may be ordered.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as NetServer, Socket } from 'node:net'
import { statePage } from '#core/sites/serving/neutral-pages.ts'
import type { SiteAnswers } from '#core/sites/serving/site-answers.ts'
import type { SiteView, SiteViews } from '#core/sites/serving/site-views.ts'
import { hostName, isAddress } from './host-name.ts'
import { writeAnswer } from './write-answer.ts'

export interface SiteServerOptions {
  readonly listen: { readonly host: string; readonly port: number; readonly bound?: NetServer | undefined }
  readonly views: Pick<SiteViews, 'cached' | 'find' | 'isServed'>
  readonly answers: Pick<SiteAnswers, 'answer'>
  readonly traffic: { count(organizationId: string, siteId: string, bytes: number): void }
  readonly maxConnections: number
  /** Is notified of the port that was bound. */
  readonly onListening: (port: number) => void
  /** Is notified of what cannot be answered. */
  readonly onError: (error: unknown) => void
}

const keepAliveMs = 65_000
const headersMs = 15_000
const requestMs = 30_000
const idleSweepMs = 20
/** Larger bodies of requests, which nothing here reads, end the connection. */
const maxHeaderBytes = 16_384

export class SiteServer {
  readonly #options: SiteServerOptions
  /** Octets of each connection that are counted. */
  readonly #counted = new WeakMap<Socket, number>()
  #server: Server | undefined

  constructor(options: SiteServerOptions) {
    this.#options = options
  }

  /** Starts to accept; resolves with the address that was bound, rejects when it cannot be. */
  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    const { listen, maxConnections } = this.#options
    const limits = { keepAliveTimeout: keepAliveMs, headersTimeout: headersMs, requestTimeout: requestMs, maxHeaderSize: maxHeaderBytes }
    const server = createServer({ ...limits, noDelay: true }, (req, res) => void this.#serve(req, res))
    server.maxConnections = maxConnections
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

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const host = hostName(req.headers.host)
    if (isAddress(host)) return this.#allow(req, res)
    try {
      const { views, answers } = this.#options
      const view = views.cached(host) ?? (await views.find(host))
      if (!view) return await writeAnswer(res, statePage(404, req.method ?? ''))
      this.#countAtEnd(req.socket, res, view)
      const { headers } = req
      const answer = await answers.answer(view, {
        method: req.method ?? '',
        target: req.url ?? '/',
        acceptEncoding: headers['accept-encoding'],
        ifNoneMatch: headers['if-none-match'],
        ifRange: headers['if-range'] as string | undefined,
        range: headers.range,
      })
      await writeAnswer(res, answer)
    } catch (error) {
      this.#options.onError(error)
      if (res.headersSent) res.destroy()
      else await writeAnswer(res, statePage('paused', req.method ?? ''))
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

  /** 200 where a certificate for the host may be ordered, as proxies that order them on demand ask. */
  async #allow(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      const { pathname, searchParams } = new URL(req.url ?? '/', 'http://address.invalid')
      const domain = pathname === '/internal/tls-allow' ? hostName(searchParams.get('domain') ?? '') : ''
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
