/**
 * A signed-in link and the messages that go over it, one after the other. Where the peer takes pipelining and answers
 * quickly, the envelope of the next message rides behind the final dot of the one before (RFC 2920 §3.1).
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

/** How long a connection may be used. */
export interface SessionLimits {
  readonly messages: number
  readonly ageMs: number
}

/** The pool as a session sees it. */
export interface SessionOwner {
  readonly deadlines: Deadlines
  readonly limits: SessionLimits
  now(): number
  /** Hands over a delivery that waits for a connection, if there is one. */
  next(): Delivery | undefined
  /** The session has nothing to do. */
  idle(session: Session): void
  /** The session is over; these deliveries are to be made over a fresh link. */
  gone(session: Session, again: readonly Delivery[]): void
}

/** A peer that took longer than this for its last final reply gets no envelope ahead of time: another link may be free sooner. */
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

  /** Begins with this delivery. Returns false, and closes, when the link has been in use for too long. */
  take(delivery: Delivery): boolean {
    if (this.#isExpired(this.#messages)) {
      this.#leave()
      return false
    }
    this.#go(delivery)
    return true
  }

  /** Goes on with whatever waits, or rests. */
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

  /** No message is begun any more; the link closes as soon as nothing is under way. */
  retire(): void {
    this.#retiring = true
    if (this.#head === undefined) this.#leave()
  }

  /** Ends at once whatever is under way. */
  break(failure: Failure): void {
    this.link.break(failure)
  }

  abort(delivery: Delivery): void {
    const failure = new Failure('aborted', this.link.phase)
    if (this.#head?.delivery === delivery) return this.link.break(failure)
    // Its envelope is out already, so the link ends when the message before it is through.
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

  /** The dialog for a delivery. Those that this peer can take nothing of are settled, and the next one is looked at. */
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
 * A link that had been used before may have died unnoticed. As the peer has said nothing yet, nothing can have been
 * delivered. It happens once: the fresh link has not been used before.
 */
function mayTakeFreshLink(transaction: Transaction, failure: Failure): boolean {
  if (!transaction.reused || !transaction.untouched) return false
  if (transaction.delivery.job.signal.aborted) return false
  return failure.code !== 'closed'
}
