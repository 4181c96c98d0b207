/** Outbound SMTP client (RFC 5321 §3.3) as a transport: pooled connections, one report for each attempt. */
import type { AttemptReport, DeliveryJob, ProbeStep, Transport, SmtpTarget } from '#core/delivery/transport.ts'
import { outboundNetwork, type OutboundOptions } from '../../outbound/open-connection.ts'
import { AccessTokens } from '../oauth2/access-tokens.ts'
import type { Deadlines } from './connection/deadlines.ts'
import { standardDeadlines } from './connection/deadlines.ts'
import { Delivery } from './transaction/delivery.ts'
import { Failure } from '../attempt-failure.ts'
import type { HandshakeOptions } from './connection/handshake.ts'
import { Pool } from './pool.ts'
import { probeTarget } from './smtp-probe.ts'
import { reportFailure } from './attempt-report.ts'
import type { SessionLimits } from './session.ts'

export interface SmtpTransportOptions extends OutboundOptions {
  /** Name to send in EHLO: a host name or an address literal (RFC 5321 §4.1.4). */
  readonly heloName: string
  /** Timeouts in milliseconds that replace the defaults. */
  readonly deadlines?: Partial<Deadlines>
  /** Limits of a connection. Default: 1,000 messages and 10 minutes. */
  readonly limits?: SessionLimits
  /** Whether this service itself listens on an address and port. Default: never. */
  readonly isOwn?: ((address: string, port: number) => boolean) | undefined
}

const standardLimits: SessionLimits = { messages: 1000, ageMs: 10 * 60_000 }

export class SmtpTransport implements Transport<SmtpTarget> {
  readonly #options: HandshakeOptions
  readonly #limits: SessionLimits
  readonly #tokens: AccessTokens
  readonly #current = new Map<string, Pool>()
  /** Pools with replaced settings, until they are empty. */
  readonly #retired = new Set<Pool>()
  #closed = false

  constructor(options: SmtpTransportOptions) {
    if (!/^[A-Za-z0-9._:[\]-]{1,255}$/.test(options.heloName))
      throw new TypeError('The EHLO name must be a host name or an address literal.')
    const { heloName, isOwn } = options
    this.#limits = options.limits ?? standardLimits
    const network = outboundNetwork(options, { ...standardDeadlines, ...options.deadlines })
    this.#tokens = new AccessTokens(network)
    this.#options = { ...network, heloName, isOwn, tokens: this.#tokens }
  }

  deliver(target: SmtpTarget, job: DeliveryJob): Promise<AttemptReport> {
    return new Promise((resolve) => {
      const delivery = new Delivery(target, job, this.#options.clock.monotonic(), resolve)
      const refused = this.#closed ? 'closed' : job.signal.aborted ? 'aborted' : undefined
      if (refused === undefined) return this.#poolFor(target).submit(delivery)
      delivery.settle(reportFailure(delivery, new Failure(refused, 'connect'), delivery.submittedAt))
    })
  }

  probe(target: SmtpTarget, signal: AbortSignal, seen?: (step: ProbeStep) => void): Promise<readonly ProbeStep[]> {
    return probeTarget(target, this.#options, signal, seen)
  }

  forget(destinationId: string): void {
    const pool = this.#current.get(destinationId)
    if (pool === undefined) return
    this.#current.delete(destinationId)
    this.#retired.add(pool)
    pool.retire()
  }

  /** Aborts all deliveries. To let them finish, wait for their reports first. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    for (const pool of [...this.#current.values(), ...this.#retired]) pool.close()
    this.#tokens[Symbol.dispose]()
    return Promise.resolve()
  }

  #poolFor(target: SmtpTarget): Pool {
    const known = this.#current.get(target.destinationId)
    if (known?.target.revision === target.revision) return known
    this.forget(target.destinationId)
    const pool = new Pool(target, this.#options, this.#limits, (empty) => this.#remove(empty))
    this.#current.set(target.destinationId, pool)
    return pool
  }

  #remove(pool: Pool): void {
    this.#retired.delete(pool)
    if (this.#current.get(pool.target.destinationId) === pool) this.#current.delete(pool.target.destinationId)
  }
}
