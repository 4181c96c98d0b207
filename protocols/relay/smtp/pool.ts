/** Connections of a destination with the same settings, and the deliveries that wait for them. */
import type { SmtpTarget } from '#core/delivery/transport.ts'
import type { Deadlines } from './connection/deadlines.ts'
import type { Delivery, DeliveryHolder } from './transaction/delivery.ts'
import { Failure } from '../attempt-failure.ts'
import type { HandshakeOptions, Peer } from './connection/handshake.ts'
import { openLink } from './connection/handshake.ts'
import { reportFailure } from './attempt-report.ts'
import type { SessionLimits, SessionOwner } from './session.ts'
import { Session } from './session.ts'

/** Pause after a failure to open a connection. During this time, the existing connections do the work. */
const pauseMs = 5_000

export class Pool implements SessionOwner, DeliveryHolder {
  readonly target: SmtpTarget
  readonly deadlines: Deadlines
  readonly limits: SessionLimits

  readonly #options: HandshakeOptions
  readonly #onEmpty: (pool: Pool) => void
  readonly #sessions = new Set<Session>()
  readonly #idle: Session[] = []
  readonly #waiting: Delivery[] = []
  readonly #closing = new AbortController()
  #opening = 0
  #retired = false
  #pausedUntil = 0

  constructor(target: SmtpTarget, options: HandshakeOptions, limits: SessionLimits, onEmpty: (pool: Pool) => void) {
    this.target = target
    this.deadlines = options.deadlines
    this.limits = limits
    this.#options = options
    this.#onEmpty = onEmpty
  }

  now(): number {
    return this.#options.clock.monotonic()
  }

  submit(delivery: Delivery): void {
    delivery.holder = this
    for (let session = this.#idle.pop(); session !== undefined; session = this.#idle.pop()) if (session.take(delivery)) return
    this.#waiting.push(delivery)
    this.#openSome()
  }

  abort(delivery: Delivery): void {
    const at = this.#waiting.indexOf(delivery)
    if (at >= 0) this.#waiting.splice(at, 1)
    this.#fail(delivery, new Failure('aborted', 'connect'))
  }

  /** Closes idle connections now, and busy ones after their messages. Waiting deliveries are still sent. */
  retire(): void {
    this.#retired = true
    for (const session of this.#idle.splice(0)) session.retire()
    if (this.#waiting.length === 0) for (const session of this.#sessions) session.retire()
    this.#notifyIfEmpty()
  }

  /** Ends all connections and deliveries immediately. */
  close(): void {
    const failure = new Failure('closed', 'connect')
    this.#closing.abort()
    for (const delivery of this.#waiting.splice(0)) this.#fail(delivery, failure)
    for (const session of this.#idle.splice(0)) session.retire()
    for (const session of this.#sessions) session.break(failure)
  }

  next(): Delivery | undefined {
    const at = this.#waiting.findIndex((delivery) => !delivery.retried)
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0]
  }

  idle(session: Session): void {
    this.#idle.push(session)
    if (this.#retired) this.retire()
  }

  gone(session: Session, again: readonly Delivery[]): void {
    this.#sessions.delete(session)
    const at = this.#idle.indexOf(session)
    if (at >= 0) this.#idle.splice(at, 1)
    for (const delivery of again) {
      delivery.retried = true
      delivery.holder = this
    }
    this.#waiting.unshift(...again)
    this.#openSome()
    this.#notifyIfEmpty()
  }

  #openSome(): void {
    const paused = this.#sessions.size > 0 && this.now() < this.#pausedUntil && this.#waiting[0]?.retried !== true
    if (paused || this.#closing.signal.aborted) return
    const places = Math.max(this.target.maxConnections, 1) - this.#sessions.size - this.#opening
    const wanted = Math.min(this.#waiting.length - this.#opening, places)
    for (let count = 0; count < wanted; count += 1) void this.#open()
  }

  async #open(): Promise<void> {
    this.#opening += 1
    try {
      const peer = await openLink(this.target, this.#options, this.#closing.signal)
      this.#opening -= 1
      this.#opened(peer)
    } catch (error) {
      this.#opening -= 1
      this.#notOpened(error as Failure)
    }
  }

  #opened(peer: Peer): void {
    if (this.#closing.signal.aborted) return peer.link.quit(this.deadlines.goodbye)
    if (peer.link.failure !== undefined) return this.#notOpened(peer.link.failure)
    const session = new Session(peer, this)
    this.#sessions.add(session)
    const delivery = this.#waiting.shift()
    if (delivery === undefined) session.proceed()
    else session.take(delivery)
  }

  /**
   * Handles a failure to open a connection. Existing connections continue with waiting deliveries. Without any, a failure ends the oldest
   * delivery, and the last pending failure ends all of them, so that an unreachable host does not cost each message its own timeout.
   */
  #notOpened(failure: Failure): void {
    this.#pausedUntil = this.now() + pauseMs
    const alone = this.#sessions.size === 0
    const count = alone && this.#opening === 0 ? this.#waiting.length : alone || this.#waiting[0]?.retried ? 1 : 0
    for (const delivery of this.#waiting.splice(0, count)) this.#fail(delivery, failure)
    this.#notifyIfEmpty()
  }

  #fail(delivery: Delivery, failure: Failure): void {
    delivery.settle(reportFailure(delivery, failure, this.now()))
  }

  #notifyIfEmpty(): void {
    if (this.#sessions.size + this.#opening + this.#waiting.length === 0) this.#onEmpty(this)
  }
}
