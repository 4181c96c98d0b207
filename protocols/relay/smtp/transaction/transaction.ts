/**
 * Sends a message over a link (RFC 5321 §3.3), driven by replies. It has no promise for each command, because this is the hot path of the
 * relay. At any time it knows which recipients the peer may have accepted.
 */
import type { DeliveryJob, PeerReply, RecipientVerdict } from '#core/delivery/transport.ts'
import type { Capabilities } from '../connection/capabilities.ts'
import type { Deadlines } from '../connection/deadlines.ts'
import type { Delivery } from './delivery.ts'
import { DotStuffer } from './dot-stuffing.ts'
import type { Envelope } from './envelope.ts'
import type { AttemptErrorCode, Phase } from '../../attempt-failure.ts'
import { Failure } from '../../attempt-failure.ts'
import type { Link } from '../connection/link.ts'
import { isOfSender } from './sender-refusal.ts'

/** State of the link after a transaction: ready, ready after RSET, or unusable. */
export type Aftermath = 'ready' | 'reset' | 'unusable'

/** Interface of the session for a transaction. */
export interface TransactionHost {
  readonly link: Link
  readonly capabilities: Capabilities
  readonly deadlines: Deadlines
  now(): number
  /** Returns the commands of the next message to send with the final dot, or an empty string. */
  ride(): string
  /** Called with the final outcome of the transaction. */
  finished(transaction: Transaction, aftermath: Aftermath): void
}

type Stage = 'reset' | 'mail' | 'rcpt' | 'data' | 'body' | 'final' | 'over'

/** Content up to this size is collected and sent in one piece with its final dot. */
const maxWholeOctets = 64 * 1024

export class Transaction {
  readonly delivery: Delivery
  readonly job: DeliveryJob
  readonly envelope: Envelope
  /** The link has sent a message before. */
  readonly reused: boolean
  /** Reason why the dialog ended early, if it did. */
  error: Failure | undefined
  /** Milliseconds on the monotonic clock when each stage ended. */
  readonly times = { begun: 0, mail: 0, rcpt: 0, data: 0, body: 0 }

  readonly #host: TransactionHost
  #stage: Stage = 'over'
  #cursor = 0
  readonly #accepted: number[] = []
  #refusedAtMail: PeerReply | undefined
  #durable: Promise<void> | undefined
  #isDurable = false

  constructor(host: TransactionHost, delivery: Delivery, envelope: Envelope, reused: boolean) {
    this.#host = host
    this.delivery = delivery
    this.job = delivery.job
    this.envelope = envelope
    this.reused = reused
  }

  /** True until the first reply of the peer. Until then, another link can repeat the attempt. */
  get untouched(): boolean {
    return this.#stage === 'reset' || this.#stage === 'mail'
  }

  /** Starts the transaction and returns the text to write: all commands up to DATA with pipelining, otherwise the first command. */
  begin(resetFirst: boolean): string {
    const { mail, rcpt } = this.envelope
    this.times.begun = this.#host.now()
    this.#stage = resetFirst ? 'reset' : 'mail'
    if (!this.#host.capabilities.pipelining) return resetFirst ? 'RSET\r\n' : mail
    this.#askForDurability()
    return `${resetFirst ? 'RSET\r\n' : ''}${mail}${rcpt.length === 1 ? rcpt[0] : rcpt.join('')}DATA\r\n`
  }

  /** Called when the next replies belong to this transaction. */
  awaitReplies(): void {
    this.#expect('mail')
  }

  /** Processes the next reply. */
  reply(reply: PeerReply): void {
    if (reply.code === 421) return this.#host.link.break(new Failure('peer_closing', this.#phase(), undefined, reply))
    if (this.#stage === 'mail') return this.#onMail(reply)
    if (this.#stage === 'rcpt') return this.#onRcpt(reply)
    if (this.#stage === 'data') return this.#onData(reply)
    if (this.#stage === 'final') return this.#onFinal(reply)
    if (this.#stage === 'body') return this.#onEarly(reply)
    if (this.#stage === 'reset') this.#onReset(reply)
  }

  /** Handles a broken link. Undecided recipients are transient, or unknown if the final dot was sent. */
  broken(failure: Failure): void {
    if (this.#stage === 'over') return
    this.error = failure
    const handedOver = this.#stage === 'final' && failure.reply === undefined
    this.#stage = 'over'
    // After a refused MAIL, many servers close the connection without replies to the later commands.
    if (this.#refusedAtMail) return this.#finishRefused('unusable')
    for (const place of this.#accepted) this.#report(place, handedOver ? 'unknown' : 'transient', failure.reply)
    for (const place of this.envelope.places) if (!this.envelope.reports[place]) this.#report(place, 'transient', failure.reply)
    this.#host.finished(this, 'unusable')
  }

  #onReset(reply: PeerReply): void {
    if (reply.code !== 250) return this.#garbage(reply)
    this.#stage = 'mail'
    if (!this.#host.capabilities.pipelining) this.#host.link.write(this.envelope.mail)
    this.#expect('mail')
  }

  #onMail(reply: PeerReply): void {
    if (classOf(reply) === 3) return this.#garbage(reply)
    this.times.mail = this.#host.now()
    this.#stage = 'rcpt'
    if (classOf(reply) !== 2) this.#refusedAtMail = reply
    if (this.#host.capabilities.pipelining) return this.#expect('rcpt')
    if (this.#refusedAtMail) return this.#finishRefused('ready')
    this.#host.link.write(this.envelope.rcpt[0] ?? '')
    this.#expect('rcpt')
  }

  #onRcpt(reply: PeerReply): void {
    if (classOf(reply) === 3) return this.#garbage(reply)
    const place = this.envelope.places[this.#cursor++] ?? 0
    if (classOf(reply) === 2) this.#accepted.push(place)
    else if (!this.#refusedAtMail) this.#report(place, this.#verdictAtRcpt(reply), reply, isOfSender('rcpt', reply))
    const next = this.envelope.rcpt[this.#cursor]
    if (next !== undefined) {
      if (!this.#host.capabilities.pipelining) this.#host.link.write(next)
      return this.#expect('rcpt')
    }
    this.#afterRcpt()
  }

  #afterRcpt(): void {
    this.times.rcpt = this.#host.now()
    if (this.#host.capabilities.pipelining) {
      this.#stage = 'data'
      return this.#expect('data')
    }
    if (this.#accepted.length === 0) return this.#finishRefused('reset')
    this.#stage = 'data'
    this.#askForDurability()
    this.#host.link.write('DATA\r\n')
    this.#expect('data')
  }

  #onData(reply: PeerReply): void {
    this.times.data = this.#host.now()
    const hasNoRecipient = this.#accepted.length === 0 || this.#refusedAtMail !== undefined
    if (reply.code === 354) return hasNoRecipient ? this.#sendNothing() : this.#sendContent()
    if (classOf(reply) < 4) return this.#garbage(reply)
    if (hasNoRecipient) return this.#finishRefused('reset')
    this.#decide(reply, 'reset')
  }

  /** Ends the data with a lone dot, which delivers nothing (RFC 2920 §3.1). The peer accepts DATA although it refused all recipients. */
  #sendNothing(): void {
    this.#stage = 'final'
    this.#host.link.write('.\r\n')
    this.#expect('final')
  }

  #onFinal(reply: PeerReply): void {
    if (classOf(reply) === 3) return this.#garbage(reply)
    if (this.#accepted.length === 0 || this.#refusedAtMail) return this.#finishRefused('ready')
    this.#decide(reply, 'ready')
  }

  /** Handles a refusal during the content. The peer may still be reading, so the link cannot be used again. */
  #onEarly(reply: PeerReply): void {
    if (classOf(reply) < 4) return this.#garbage(reply)
    this.#decide(reply, 'unusable')
  }

  #sendContent(): void {
    this.#stage = 'body'
    const { link, deadlines } = this.#host
    link.setDeadline(deadlines.command + Math.ceil(this.job.size / 16384) * deadlines.bodyPer16KiB, 'body_timeout', 'body')
    if (this.job.size > maxWholeOctets) void this.#stream()
    else this.#collect()
  }

  #collect(): void {
    const stuffer = new DotStuffer()
    const pieces: Uint8Array[] = []
    try {
      const content = this.job.content()
      if (!(Symbol.iterator in content)) return void this.#collectLater(content, stuffer, pieces)
      for (const chunk of content) pieces.push(stuffer.stuff(chunk))
    } catch {
      return this.#drop('content_failed')
    }
    if (this.#isDurable) this.#end(pieces, stuffer)
    else void this.#endWhenDurable(pieces, stuffer)
  }

  async #collectLater(content: AsyncIterable<Uint8Array>, stuffer: DotStuffer, pieces: Uint8Array[]): Promise<void> {
    try {
      for await (const chunk of content) pieces.push(stuffer.stuff(chunk))
    } catch {
      return this.#drop('content_failed')
    }
    await this.#endWhenDurable(pieces, stuffer)
  }

  async #stream(): Promise<void> {
    const { link } = this.#host
    const stuffer = new DotStuffer()
    try {
      for await (const chunk of this.job.content()) {
        if (this.#stage !== 'body') return
        if (!link.writeContent(stuffer.stuff(chunk))) await link.flushed()
      }
    } catch {
      return this.#drop('content_failed')
    }
    // The dot follows only after the system has accepted all earlier content, so that a written dot means a complete message.
    await link.flushed()
    await this.#endWhenDurable([], stuffer)
  }

  async #endWhenDurable(pieces: readonly Uint8Array[], stuffer: DotStuffer): Promise<void> {
    try {
      await this.#durable
    } catch {
      return this.#drop('start_not_recorded')
    }
    this.#end(pieces, stuffer)
  }

  #end(pieces: readonly Uint8Array[], stuffer: DotStuffer): void {
    if (this.#stage !== 'body') return
    this.#stage = 'final'
    this.times.body = this.#host.now()
    this.#host.link.writeTogether(pieces, stuffer.end() + this.#host.ride())
    this.#expect('final')
  }

  /** Records the start while the envelope is sent. The final dot waits for the record. */
  #askForDurability(): void {
    this.#durable = this.delivery.recordStart()
    this.#durable.then(
      () => (this.#isDurable = true),
      () => undefined,
    )
  }

  #verdictAtRcpt(reply: PeerReply): RecipientVerdict {
    // RFC 5321 §4.5.3.1.10: a plain 552 after accepted recipients may mean too many recipients for one message.
    if (reply.code === 552 && this.#accepted.length > 0 && (reply.enhanced ?? '5.5.3') === '5.5.3') return 'transient'
    return verdictOf(reply)
  }

  #finishRefused(aftermath: Aftermath): void {
    const refusal = this.#refusedAtMail
    if (refusal)
      for (const place of this.envelope.places) this.#report(place, verdictOf(refusal), refusal, isOfSender('mail', refusal), true)
    this.#finish(aftermath)
  }

  #decide(reply: PeerReply, aftermath: Aftermath): void {
    const verdict = verdictOf(reply)
    for (const place of this.#accepted) this.#report(place, verdict, reply, isOfSender('final', reply), verdict !== 'accepted')
    this.#finish(aftermath)
  }

  #finish(aftermath: Aftermath): void {
    this.#stage = 'over'
    this.#host.finished(this, aftermath)
  }

  #report(place: number, verdict: RecipientVerdict, reply: PeerReply | undefined, ofSender = false, ofMessage = false): void {
    const address = this.job.rcptTo[place] ?? ''
    this.envelope.reports[place] = { address, verdict, reply, ...(ofSender && { ofSender }), ...(ofMessage && { ofMessage }) }
  }

  #expect(phase: 'mail' | 'rcpt' | 'data' | 'final'): void {
    const { link, deadlines } = this.#host
    if (phase === 'final') link.setDeadline(deadlines.dataEnd, 'final_timeout', phase)
    else link.setDeadline(deadlines.command, 'command_timeout', phase)
  }

  #garbage(reply: PeerReply): void {
    this.#drop('protocol_error', `The reply ${reply.code} is not valid here.`)
  }

  #drop(code: AttemptErrorCode, detail?: string): void {
    if (this.#stage !== 'over') this.#host.link.break(new Failure(code, this.#phase(), detail))
  }

  #phase(): Phase {
    return this.#stage === 'reset' || this.#stage === 'over' ? 'mail' : this.#stage
  }
}

const classOf = (reply: PeerReply): number => Math.trunc(reply.code / 100)

function verdictOf(reply: PeerReply): RecipientVerdict {
  const digit = classOf(reply)
  return digit === 2 ? 'accepted' : digit === 4 ? 'transient' : 'permanent'
}
