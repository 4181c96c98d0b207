/** The HTTP listener: Node's server under h3, with every limit set, and a close that lets requests finish. */
import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, RequestListener, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { serve } from 'h3'
import type { Feature } from '#config/features.ts'
import type { Scope } from '#core/access/scope.ts'
import { noOperator, type Authenticate } from './authentication.ts'
import type { ProtectedResource } from './challenge.ts'
import type { AdminApiEvents, Exchange, ExchangeSurroundings } from './exchange.ts'
import { answerHttpFault } from './http-faults.ts'
import type { Operation, RefusalForm } from './operation.ts'
import { BodyMemory } from './request-body.ts'
import { buildApp } from './routes.ts'
import { systemOperations, type Health, type MetricsSource } from './system-operations.ts'

/** Limits that hold for the whole listener. */
export interface AdminApiLimits {
  readonly connectionsMax: number
  /** Connections the kernel holds until they are accepted. */
  readonly backlog: number
  /** Bytes of all request bodies in memory at one time. */
  readonly bodyMemoryBytesMax: number
  readonly jsonDepthMax: number
  /** How often deadlines are looked at. */
  readonly deadlineCheckMs: number
}

const limitsUnlessTold: AdminApiLimits = {
  connectionsMax: 10_000,
  backlog: 4096,
  bodyMemoryBytesMax: 128 * 1_048_576,
  jsonDepthMax: 32,
  deadlineCheckMs: 1000,
}

export interface AdminApiOptions {
  /** Port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number }
  /** Public address of the service. */
  readonly baseUrl: string
  readonly version: string
  readonly operations: readonly Operation[]
  readonly authenticate: Authenticate
  /** How they are told who come to an address where nothing is; without it, by the error envelope. */
  readonly nothingAs?: RefusalForm
  /** Throws unless the request carries the operator's key; without it nobody is the operator. */
  readonly authenticateOperator?: ((headers: IncomingHttpHeaders) => void) | undefined
  /** Throws `feature_disabled` while the flag is off for the organization. */
  readonly requireFlag: (scope: Scope, feature: Feature) => Promise<void>
  /** What callers without a good token are pointed to; without it they are told the scheme alone. */
  readonly protectedResource?: ProtectedResource
  /** Throws `overloaded` while the service sheds load, and `storage_full` for what would write. */
  readonly admission: { check(work: 'reading' | 'writing'): void }
  readonly events: AdminApiEvents
  readonly health: Health
  readonly metrics: MetricsSource
  /** Addresses of proxies whose `X-Forwarded-For` is believed. */
  readonly trustProxy?: readonly string[]
  readonly limits?: Partial<AdminApiLimits>
  /** For tests: an answer that does not match its declared schema becomes an internal error. */
  readonly checkAnswers?: boolean
}

const headerMilliseconds = 15_000
/** Node's own bound on receiving a request; the deadline of the operation usually comes first. */
const requestMilliseconds = 130_000
/** Longer than the idle time of common proxies, so that they and not we close idle connections. */
const keepAliveMilliseconds = 65_000
const idleSweepMilliseconds = 20

export class AdminApi {
  readonly #options: AdminApiOptions
  readonly #limits: AdminApiLimits
  readonly #inFlight = new Set<Exchange>()
  readonly #sockets = new Set<Socket>()
  readonly #idPrefix = `req_${randomBytes(6).toString('base64url')}`
  #requests = 0
  #draining = false
  #server: Server | undefined
  #deadlines: NodeJS.Timeout | undefined

  constructor(options: AdminApiOptions) {
    this.#options = options
    this.#limits = { ...limitsUnlessTold, ...options.limits }
  }

  /** Starts to accept; resolves with the address that was bound, rejects when it cannot be. */
  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    const { listen, trustProxy, operations } = this.#options
    const around = this.#surroundings()
    const system = systemOperations({ ...this.#options, isDraining: () => this.#draining }, operations)
    const served = serve(buildApp([...operations, ...system], around, this.#options.nothingAs), {
      hostname: listen.host,
      port: listen.port,
      silent: true,
      gracefulShutdown: false,
      manual: true,
      trustProxy: trustProxy ? [...trustProxy] : false,
      node: {
        backlog: this.#limits.backlog,
        headersTimeout: headerMilliseconds,
        requestTimeout: requestMilliseconds,
        keepAliveTimeout: keepAliveMilliseconds,
        connectionsCheckingInterval: 5000,
        insecureHTTPParser: false,
        noDelay: true,
      },
    })
    const server = served.node?.server as Server
    this.#guard(server, served.node?.handler as RequestListener)
    await served.serve()
    this.#server = server
    this.#deadlines = setInterval(() => this.#endOverdue(), this.#limits.deadlineCheckMs).unref()
    const { address, port } = server.address() as AddressInfo
    return { host: address, port }
  }

  /**
   * Stops accepting, ends waits at once, lets other requests finish for at most `deadlineMs`, then cuts what is left.
   * Answers given meanwhile close their connections.
   */
  async close(deadlineMs: number): Promise<void> {
    const server = this.#server
    if (!server?.listening) return
    this.#draining = true
    const closed = once(server, 'close')
    server.close()
    for (const exchange of this.#inFlight) if (exchange.operation.waits) exchange.end('draining')
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
    const sweep = setInterval(() => server.closeIdleConnections(), idleSweepMilliseconds)
    const cut = setTimeout(() => this.#cut(server), deadlineMs)
    await closed
    clearInterval(sweep)
    clearTimeout(cut)
    clearInterval(this.#deadlines)
  }

  #surroundings(): ExchangeSurroundings {
    return {
      authenticate: this.#options.authenticate,
      authenticateOperator: this.#options.authenticateOperator ?? noOperator,
      requireFlag: this.#options.requireFlag,
      protectedResource: this.#options.protectedResource,
      admission: this.#options.admission,
      events: this.#options.events,
      bodyMemory: new BodyMemory(this.#limits.bodyMemoryBytesMax),
      depthMax: this.#limits.jsonDepthMax,
      inFlight: this.#inFlight,
      checkAnswers: this.#options.checkAnswers ?? false,
      isDraining: () => this.#draining,
      nextRequestId: () => this.#nextRequestId(),
    }
  }

  #guard(server: Server, handler: RequestListener): void {
    server.maxConnections = this.#limits.connectionsMax
    server.on('drop', () => this.#options.events.connectionDropped())
    server.on('clientError', (error, socket) => answerHttpFault(error, socket as Socket, this.#nextRequestId()))
    // With a listener of its own, Node leaves "100 Continue" to the body reader: it is sent when the caller is known.
    server.on('checkContinue', handler)
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  #endOverdue(): void {
    const now = performance.now()
    for (const exchange of this.#inFlight) if (exchange.deadlineAt <= now) exchange.end('deadline')
  }

  #cut(server: Server): void {
    for (const exchange of this.#inFlight) exchange.end('draining')
    server.closeAllConnections()
  }

  #nextRequestId(): string {
    return `${this.#idPrefix}${(this.#requests++).toString(36)}`
  }
}
