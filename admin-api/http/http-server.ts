/** The HTTP side: its listeners, their common limits, and a close that lets requests finish. */
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Feature } from '#config/plans/features.ts'
import type { Activity } from '#core/activity.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import { systemClock } from '#core/clock.ts'
import { Fairness } from '#core/fairness/fairness.ts'
import {
  noOperator,
  noPerson,
  type Authenticate,
  type AuthenticateOperator,
  type AuthenticatePerson,
} from '../credentials/authentication.ts'
import type { ProtectedResource } from '../credentials/challenge.ts'
import type { AdminApiEvents } from './api-events.ts'
import type { HandledRequest, HandlerContext } from './handler-context.ts'
import { ClientLoad } from './client-load.ts'
import { answerHttpFault, faultOf, TurnedAway } from './http-faults.ts'
import { usualJson, type JsonLimits } from '../bodies/json/json-body.ts'
import { JsonThread } from '../bodies/json/json-thread.ts'
import type { Operation, ErrorRenderer, Work } from '../operation/operation.ts'
import { BodyMemory, BodyTurns } from '../bodies/body-turns.ts'
import { HttpListener, type Address, type HttpsOptions } from './listening/http-listener.ts'
import { serveOperations, type Fetch } from './routes.ts'
import { systemOperations, type Health, type MetricsSource } from './system-operations.ts'

/** Limits that hold for the whole listener. */
export interface AdminApiLimits {
  readonly maxConnections: number
  /** Connections from one address; for a client behind a trusted proxy, requests in progress. */
  readonly maxConnectionsPerAddress: number
  /** Whether connections from this machine are limited too. */
  readonly countsLoopback: boolean
  /** Connections that the kernel holds before they are accepted. */
  readonly backlog: number
  /** Maximum bytes of all request bodies in memory; small bodies are counted separately. */
  readonly maxBodyMemoryBytes: number
  readonly maxSmallBodyMemoryBytes: number
  /** Maximum bytes of large bodies in processing. A single body may be larger. */
  readonly maxBodyWorkBytes: number
  readonly json: JsonLimits
  /** Interval of the deadline check. */
  readonly deadlineCheckMs: number
  /** If a check runs at least this many milliseconds late, the process was stopped rather than busy. */
  readonly frozenMsMin: number
  /** Maximum time for the header of a request, and for the whole request, in milliseconds. */
  readonly headerMs: number
  readonly requestMs: number
  /** Interval of the check of these two limits. */
  readonly arrivalCheckMs: number
}

const defaultLimits: AdminApiLimits = {
  maxConnections: 10_000,
  maxConnectionsPerAddress: 500,
  countsLoopback: false,
  backlog: 4096,
  maxBodyMemoryBytes: 128 * 1_048_576,
  maxSmallBodyMemoryBytes: 32 * 1_048_576,
  maxBodyWorkBytes: 32 * 1_048_576,
  json: usualJson,
  deadlineCheckMs: 1000,
  frozenMsMin: 2000,
  headerMs: 15_000,
  // Node's limit for receiving a request; the deadline of the operation is usually shorter.
  requestMs: 130_000,
  arrivalCheckMs: 5000,
}

export interface AdminApiOptions<C> {
  /** Parts of the daemon that the operations use. */
  readonly core: C
  /** Port 0 selects a free port. */
  readonly listen: Address
  /** An additional TLS listener, with the same operations and limits. */
  readonly https?: (HttpsOptions & { readonly listen: Address }) | undefined
  /** Public URL of the service. */
  readonly baseUrl: string
  readonly version: string
  readonly operations: readonly Operation<C>[]
  readonly authenticate: Authenticate
  /** Renders the response for an unknown path; defaults to the error envelope. */
  readonly errorRenderer?: ErrorRenderer
  /** Throws unless the request contains the operator's key. If absent, the service has no operator. */
  readonly authenticateOperator?: AuthenticateOperator | undefined
  /** If absent, operations of a person are refused. */
  readonly authenticatePerson?: AuthenticatePerson
  /** Throws `feature_disabled` while the flag is off for the organization. */
  readonly requireFlag: (principal: Principal, feature: Feature) => Promise<void>
  /** The resource named in challenges to callers without a valid token. If absent, challenges contain only the scheme. */
  readonly protectedResource?: ProtectedResource
  /** Throws `overloaded` while the service sheds load, and `storage_full` for work that stores mail or files while disk space is low. */
  readonly admission: { check(work: Work): void }
  /** Shares processing time between callers. If absent, callers are not measured. */
  readonly fairness?: Pick<Fairness, 'begin'>
  readonly events: AdminApiEvents
  readonly activity?: Activity | undefined
  readonly health: Health
  readonly metrics: MetricsSource
  /** Addresses of proxies with a trusted `X-Forwarded-For`. */
  readonly trustProxy?: readonly string[]
  readonly limits?: Partial<AdminApiLimits>
  /** Milliseconds of a monotonic clock; defaults to the clock of the process. */
  readonly monotonic?: () => number
  /** For tests: a response that does not match its declared schema becomes an internal error. */
  readonly checkAnswers?: boolean
}

/** The bound addresses. */
export interface HttpAddresses extends Address {
  /** The TLS address; undefined without a TLS listener. */
  readonly https: Address | undefined
}

export class AdminApi<C = unknown> {
  readonly #options: AdminApiOptions<C>
  readonly #limits: AdminApiLimits
  readonly #inFlight = new Set<HandledRequest>()
  readonly #broken = new WeakSet<Socket>()
  readonly #turnedAway = new TurnedAway()
  readonly #clients: ClientLoad
  readonly #json = new JsonThread()
  readonly #idPrefix = `req_${randomBytes(6).toString('base64url')}`
  #requests = 0
  #lookedAt = 0
  #draining = false
  #listeners: readonly HttpListener[] = []
  #deadlines: NodeJS.Timeout | undefined

  constructor(options: AdminApiOptions<C>) {
    this.#options = options
    this.#limits = { ...defaultLimits, ...options.limits }
    const { maxConnectionsPerAddress: max, countsLoopback } = this.#limits
    this.#clients = new ClientLoad({ max, countsLoopback, trustProxy: options.trustProxy ?? [] })
  }

  /** Parts of the daemon that the operations receive. */
  get core(): C {
    return this.#options.core
  }

  /** All operations except health, metrics and the OpenAPI document. */
  get operations(): readonly Operation<C>[] {
    return this.#options.operations
  }

  /** Starts listening. Resolves with the bound addresses; if one cannot be bound, rejects and closes the others. */
  async listen(): Promise<HttpAddresses> {
    const { listen, https, operations } = this.#options
    const system = systemOperations({ ...this.#options, isDraining: () => this.#draining }, operations)
    // this server calls them with its own core only
    const served = [...operations, ...system] as readonly Operation<never>[] as readonly Operation[]
    const fetch = serveOperations(served, this.#handlerContext(), this.#options.errorRenderer)
    const clear = this.#listenerAt(fetch, listen)
    const bound = await clear.listen()
    this.#listeners = [clear]
    const secured = https && this.#listenerAt(fetch, https.listen, https)
    const boundSecured = await secured?.listen().catch(async (error: unknown) => {
      await this.close(0)
      throw error
    })
    if (secured) this.#listeners = [clear, secured]
    this.#lookedAt = this.#now()
    this.#deadlines = setInterval(() => this.#endOverdue(), this.#limits.deadlineCheckMs).unref()
    return { ...bound, https: boundSecured }
  }

  /**
   * Stops listening and ends waits at once. Other requests have `deadlineMs` to finish, even if their clients have disconnected. Then
   * connections are closed, except those of requests whose write may have begun: these receive its outcome. Every response closes its
   * connection.
   */
  async close(deadlineMs: number): Promise<void> {
    if (this.#listeners.length === 0 || this.#draining) return
    this.#draining = true
    const closed = this.#listeners.map((listener) => listener.close())
    for (const exchange of this.#inFlight) if (exchange.operation.waits) exchange.end('draining')
    const late = Promise.withResolvers<void>()
    const cut = setTimeout(() => {
      this.#cut()
      late.resolve()
    }, deadlineMs)
    await Promise.all(closed)
    await Promise.race([late.promise, Promise.all([...this.#inFlight].map(({ answered }) => answered))])
    clearTimeout(cut)
    clearInterval(this.#deadlines)
    await this.#json[Symbol.asyncDispose]()
  }

  #listenerAt(fetch: Fetch, listen: Address, tls?: HttpsOptions): HttpListener {
    const { maxConnections, backlog, headerMs, requestMs, arrivalCheckMs } = this.#limits
    return new HttpListener({
      ...{ fetch, listen, tls, trustProxy: this.#options.trustProxy },
      ...{ maxConnections, backlog, headerMs, requestMs, arrivalCheckMs },
      admit: (socket) => this.#clients.admit(socket),
      turnedAway: (socket) => this.#turnAway(socket, tls !== undefined),
      dropped: () => this.#options.events.connectionDropped(),
      broke: (error, socket) => this.#broke(error, socket),
    })
  }

  #handlerContext(): HandlerContext {
    return {
      core: this.#options.core,
      authenticate: this.#options.authenticate,
      authenticateOperator: this.#options.authenticateOperator ?? (async () => noOperator()),
      authenticatePerson: this.#options.authenticatePerson ?? noPerson,
      requireFlag: this.#options.requireFlag,
      protectedResource: this.#options.protectedResource,
      admission: this.#options.admission,
      fairness: this.#options.fairness ?? new Fairness({ clock: systemClock }),
      events: this.#options.events,
      clients: this.#clients,
      bodies: {
        smallMemory: new BodyMemory(this.#limits.maxSmallBodyMemoryBytes),
        reads: BodyTurns.toRead(this.#limits.maxBodyMemoryBytes),
        works: BodyTurns.toWork(this.#limits.maxBodyWorkBytes),
        json: this.#json,
      },
      jsonLimits: this.#limits.json,
      inFlight: this.#inFlight,
      activity: this.#options.activity,
      broken: this.#broken,
      monotonic: () => this.#now(),
      checkAnswers: this.#options.checkAnswers ?? false,
      isHttps: this.#options.baseUrl.startsWith('https:'),
      isDraining: () => this.#draining,
      nextRequestId: () => this.#nextRequestId(),
    }
  }

  /** Refuses a connection; during a TLS handshake the client cannot read a reason. */
  #turnAway(socket: Socket, isSecured: boolean): void {
    this.#options.events.connectionDropped()
    if (isSecured) socket.destroy()
    else this.#turnedAway.answer(socket, this.#clients.refusal(), this.#nextRequestId())
  }

  /** Ends overdue requests. Extends their deadlines by the time that the process or machine was stopped. */
  #endOverdue(): void {
    const now = this.#now()
    const frozenMs = now - this.#lookedAt - this.#limits.deadlineCheckMs
    this.#lookedAt = now
    for (const exchange of this.#inFlight) {
      if (frozenMs > this.#limits.frozenMsMin) exchange.deadlineAt += frozenMs
      if (exchange.deadlineAt <= now) exchange.end('deadline')
    }
  }

  /** Handles a connection with invalid HTTP, which cannot carry further requests. Requests in progress on it are answered first. */
  #broke(error: Error & { readonly code?: string }, socket: Socket): void {
    if (this.#broken.has(socket)) return void socket.destroy()
    const pending = [...this.#inFlight].filter((exchange) => exchange.socket === socket)
    this.#broken.add(socket)
    const hasLeft = !socket.writable || error.code === 'ECONNRESET' || error.code === 'HPE_INVALID_EOF_STATE'
    if (pending.length === 0 || (hasLeft && !pending.some(({ isCommitting }) => isCommitting)))
      return answerHttpFault(error, socket, this.#nextRequestId())
    for (const exchange of pending) exchange.breakOff(faultOf(error).refusal)
  }

  #cut(): void {
    const kept = new Set<Socket>()
    for (const exchange of this.#inFlight) {
      exchange.end('draining')
      if (exchange.isCommitting) kept.add(exchange.socket)
    }
    for (const listener of this.#listeners) listener.cut(kept)
  }

  #now(): number {
    return this.#options.monotonic?.() ?? performance.now()
  }

  #nextRequestId(): string {
    return `${this.#idPrefix}${(this.#requests++).toString(36)}`
  }
}
