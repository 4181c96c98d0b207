/**
 * A signed-in link that sends messages one after the other. If the peer supports pipelining and replies quickly, the envelope of the next
 * message follows the final dot immediately (RFC 2920 §3.1).
 */
import type { Capabilities } from './connection/capabilities.ts'
import type { Deadlines } from './connection/deadlines.ts'
import type { Delivery, DeliveryHolder } from './transaction/delivery.ts'
import { planEnvelope } from './transaction/envelope.ts'
import { Failure } from '../attempt-failure.ts'
import type { Peer } from './connection/handshake.ts'
import type { Link } from './connection/link.ts'
import { reportFailure, reportTransaction, reportUnsent } from './attempt-report.ts'
import type { Aftermath, TransactionHost } from './transaction/transaction.ts'
import { Transaction } from './transaction/transaction.ts'

/** Limits of the use of a connection. */
export interface SessionLimits {
  readonly messages: number
  readonly ageMs: number
}

/** Interface of the pool for its sessions. */
export interface SessionOwner {
  readonly deadlines: Deadlines
  readonly limits: SessionLimits
  now(): number
  /** Returns a waiting delivery, if any. */
  next(): Delivery | undefined
  /** Called when the session has nothing to do. */
  idle(session: Session): void
  /** Called when the session is over. The pool sends the deliveries in `again` over a new link. */
  gone(session: Session, again: readonly Delivery[]): void
}

/** If the last final reply took longer, no envelope is sent ahead, because another link may be free sooner. */
const quickReplyMs = 250

export class Session implements TransactionHost, DeliveryHolder {
  readonly link: Link
  readonly capabilities: Capabilities
  readonly deadlines: Deadlines

  readonly #peer: Peer
  readonly #owner: SessionOwner
  readonly #openedAt: number
  #messages = 0
  #head: Transaction | undefined
  #pipelined: Transaction | undefined
  #needsReset = false
  #retiring = false
  #quick = false

  constructor(peer: Peer, owner: SessionOwner) {
    this.#peer = peer
    this.#owner = owner
    this.link = peer.link
    this.capabilities = peer.capabilities
    this.deadlines = owner.deadlines
    this.#openedAt = owner.now()
    this.link.onBroken = this.#onBroken
  }

  now(): number {
    return this.#owner.now()
  }

  /** Starts a delivery. Returns false and closes the link if it reached its limits. */
  take(delivery: Delivery): boolean {
    if (this.#isExpired(this.#messages)) {
      this.#leave()
      return false
    }
    this.#go(delivery)
    return true
  }

  /** Starts the next waiting delivery, or becomes idle. */
  proceed(): void {
    if (this.#retiring || this.#isExpired(this.#messages)) this.#leave()
    else this.#go(this.#owner.next())
  }

  #go(first: Delivery | undefined): void {
    const transaction = this.#prepare(first)
    if (transaction === undefined) {
      this.#owner.idle(this)
      return this.link.rest(this.deadlines.idle, this.#onTired)
    }
    this.#head = transaction
    this.link.onReply = this.#onReply
    this.link.write(transaction.begin(this.#needsReset))
    transaction.awaitReplies()
    this.#needsReset = false
  }

  /** Starts no further message, and closes the link when no message is in progress. */
  retire(): void {
    this.#retiring = true
    if (this.#head === undefined) this.#leave()
  }

  /** Breaks the link immediately. */
  break(failure: Failure): void {
    this.link.break(failure)
  }

  abort(delivery: Delivery): void {
    const failure = new Failure('aborted', this.link.phase)
    if (this.#head?.delivery === delivery) return this.link.break(failure)
    // Its envelope is already sent, so the link ends after the previous message.
    delivery.settle(reportFailure(delivery, failure, this.now()))
  }

  ride(): string {
    if (!this.#quick || this.#retiring || !this.capabilities.pipelining || this.#isExpired(this.#messages + 1)) return ''
    this.#pipelined = this.#prepare(this.#owner.next())
    return this.#pipelined === undefined ? '' : this.#pipelined.begin(false)
  }

  finished(transaction: Transaction, aftermath: Aftermath): void {
    const now = this.now()
    transaction.delivery.settle(reportTransaction(transaction, this.#peer, now))
    if (this.link.failure !== undefined) return
    this.#head = this.#pipelined
    this.#pipelined = undefined
    this.#messages += 1
    this.#quick = transaction.times.body > 0 && now - transaction.times.body < quickReplyMs
    this.#needsReset = aftermath === 'reset'
    if (aftermath === 'unusable') return this.link.break(new Failure('connection_lost', 'mail'))
    if (this.#head === undefined) return this.proceed()
    if (this.#head.delivery.settled) return this.link.break(new Failure('aborted', 'mail'))
    this.#head.awaitReplies()
  }

  /**
   * Creates the transaction of a delivery. Settles deliveries with no recipient that this peer can accept, and continues with the next one.
   */
  #prepare(first: Delivery | undefined): Transaction | undefined {
    for (let delivery = first; delivery !== undefined; delivery = this.#owner.next()) {
      const envelope = planEnvelope(delivery.job, this.capabilities)
      const reused = this.#messages > 0 || this.#head !== undefined
      if (envelope.rcpt.length > 0) {
        delivery.holder = this
        return new Transaction(this, delivery, envelope, reused)
      }
      delivery.settle(reportUnsent(delivery, this.#peer, envelope.reports, reused, this.now()))
    }
    return undefined
  }

  #isExpired(messages: number): boolean {
    return messages >= this.#owner.limits.messages || this.now() - this.#openedAt >= this.#owner.limits.ageMs
  }

  #leave(): void {
    this.link.onBroken = undefined
    this.link.quit(this.deadlines.goodbye)
    this.#owner.gone(this, [])
  }

  readonly #onTired = (): void => this.#leave()

  readonly #onReply = (reply: Parameters<Transaction['reply']>[0]): void => this.#head?.reply(reply)

  readonly #onBroken = (failure: Failure): void => {
    const again: Delivery[] = []
    for (const transaction of [this.#head, this.#pipelined]) {
      if (transaction === undefined || transaction.delivery.settled) continue
      if (mayTakeFreshLink(transaction, failure)) again.push(transaction.delivery)
      else transaction.broken(failure)
    }
    this.#head = undefined
    this.#pipelined = undefined
    this.#owner.gone(this, again)
  }
}

/**
 * Whether a delivery may be sent over a new link. A reused link may have been closed by the peer. Without a reply, nothing was delivered.
 * It happens once, because the new link is not reused.
 */
function mayTakeFreshLink(transaction: Transaction, failure: Failure): boolean {
  if (!transaction.reused || !transaction.untouched) return false
  if (transaction.delivery.job.signal.aborted) return false
  return failure.code !== 'closed'
}
