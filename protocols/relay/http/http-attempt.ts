/** Delivery attempt over HTTP: sends one or more requests in sequence and creates one report. */
import { httpProviders } from '#config/mail/providers.ts'
import type { Clock } from '#core/clock.ts'
import type {
  AttemptError,
  AttemptReport,
  DeliveryJob,
  HttpTarget,
  PeerReply,
  RecipientReport,
  RecipientVerdict,
} from '#core/delivery/transport.ts'
import { Failure } from '../attempt-failure.ts'
import { callVendor, type CallResult, type CallOptions } from './vendor-call.ts'
import { Content, Outgoing, Unreadable } from './contract/outgoing.ts'
import {
  VendorRefusal,
  type Vendor,
  type VendorAnswer,
  type VendorContext,
  type VendorRequest,
  type VendorVerdict,
} from './contract/vendor.ts'
import type { PartsReader } from '#ingest/messages/parts-reader.ts'

/**
 * Statuses of a gateway that forwarded the message but got no answer in time, so the provider may have it (RFC 9110 §15.6.5; 524 is
 * Cloudflare's).
 */
const lateStatuses: ReadonlySet<number> = new Set([504, 524])

/** Number of separately refused recipients that ends the attempt if none was accepted. */
const maxRefusedAlone = 2

/** Maximum characters of an answer in a report. */
const maxReply = 1000

export interface AttemptOptions extends Omit<CallOptions, 'signal' | 'beforeLastByte'> {
  readonly reader: Pick<PartsReader, 'read'>
}

type Refused = Exclude<VendorVerdict, { readonly kind: 'accepted' }>

/** Returns the context of a vendor for its requests. `ask` sends further requests and throws `Failure`. */
export function vendorContext(target: HttpTarget, clock: Clock, ask: (request: VendorRequest) => Promise<CallResult>): VendorContext {
  return {
    base: target.baseUrl,
    nowMs: clock.now(),
    async ask(request) {
      const { answer, failure } = await ask(request)
      if (answer) return answer
      throw failure ?? new Failure('connection_lost', 'final')
    },
  }
}

export class HttpAttempt {
  readonly #target: HttpTarget
  readonly #vendor: Vendor
  readonly #job: DeliveryJob
  readonly #options: AttemptOptions
  readonly #content: Content
  readonly #reports = new Map<string, RecipientReport>()
  readonly #startedAt: number
  #url: URL | undefined
  #last: CallResult | undefined
  #error: AttemptError | undefined
  #retryAfterSeconds: number | undefined
  /** Each recipient gets a separate request from now on. */
  #isSplit = false
  /** Number of reports that are already recorded. */
  #reported = 0

  constructor(target: HttpTarget, vendor: Vendor, job: DeliveryJob, options: AttemptOptions) {
    this.#target = target
    this.#vendor = vendor
    this.#job = job
    this.#options = options
    this.#content = new Content(job, options.reader)
    this.#startedAt = options.clock.monotonic()
  }

  async run(): Promise<AttemptReport> {
    const { rcptTo } = this.#job
    const most = this.#vendor.maxRecipients ?? rcptTo.length
    let left: readonly string[] = rcptTo
    // In sequence, because a failure of the attempt also applies to later requests.
    while (left.length > 0 && this.#error === undefined) {
      const reached = await this.#send(left.slice(0, this.#isSplit ? 1 : most))
      left = left.filter((address) => !reached.includes(address))
      const masked = [...this.#reports.values()]
      if (!this.#isSplit || masked.length < maxRefusedAlone || masked.some(({ verdict }) => verdict !== 'permanent')) continue
      this.#note(left, 'permanent', masked.at(-1)?.reply) // the message is refused, not a recipient
      break
    }
    return this.report()
  }

  report(failure?: Failure): AttemptReport {
    const { clock } = this.#options
    const port = Number(this.#url?.port) || (this.#url?.protocol === 'http:' ? 80 : 443)
    return {
      recipients: this.#job.rcptTo.map((address) => this.#reports.get(address) ?? { address, verdict: 'transient' }),
      host: this.#url?.hostname ?? '',
      port: this.#url ? port : 0,
      address: this.#last?.connection?.address,
      tls: this.#last?.connection?.tls,
      reused: this.#last?.reused ?? false,
      error: failure?.toAttemptError() ?? this.#error,
      retryAfterSeconds: this.#retryAfterSeconds,
      milliseconds: { ...this.#last?.milliseconds, total: clock.monotonic() - this.#startedAt },
    }
  }

  /** Sends one request. Returns its recipients. */
  async #send(recipients: readonly string[]): Promise<readonly string[]> {
    const message = new Outgoing(this.#job, recipients, this.#content)
    const request = await this.#prepare(message)
    if (!request) return recipients
    this.#url = new URL(request.url)
    let recorded: Promise<void> | undefined
    const beforeLastByte = (): Promise<void> => (recorded ??= this.#record(message.reached))
    const result = await callVendor(request, { ...this.#options, signal: this.#job.signal, beforeLastByte })
    this.#last = result
    if (result.answer) return this.#apply(result.answer, message.reached)
    if (result.failure) {
      this.#error = result.failure.toAttemptError()
      if (result.handedOver) this.#note(message.reached, 'unknown')
    }
    return message.reached
  }

  async #prepare(message: Outgoing): Promise<VendorRequest | undefined> {
    const { clock } = this.#options
    const context = vendorContext(this.#target, clock, (request) => {
      this.#url = new URL(request.url)
      return callVendor(request, { ...this.#options, signal: this.#job.signal })
    })
    try {
      return await this.#vendor.send(this.#target.credentials, message, context)
    } catch (error) {
      if (error instanceof VendorRefusal) this.#refuse(error.verdict, message.rcptTo)
      else if (error instanceof Failure) {
        this.#error = error.toAttemptError()
        if (error instanceof Unreadable) this.#note(message.rcptTo, 'permanent')
      } else throw error
      return undefined
    }
  }

  /**
   * Applies an answer. Returns the recipients with a known outcome: none if several were refused together, because a single recipient may
   * be the cause.
   */
  #apply(answer: VendorAnswer, reached: readonly string[]): readonly string[] {
    const verdict = this.#vendor.read(answer)
    if (verdict.kind === 'transient' && lateStatuses.has(answer.status)) {
      this.#error = new Failure('final_timeout', 'final', `(${answer.status})`).toAttemptError()
      this.#note(reached, 'unknown', this.#reply(answer, verdict.message))
      return reached
    }
    if (verdict.kind === 'permanent' && reached.length > 1) {
      this.#isSplit = true
      return []
    }
    if (verdict.kind !== 'accepted') {
      this.#refuse(verdict, reached, answer)
      return reached
    }
    const refused = new Set(verdict.refused?.map((address) => address.toLowerCase()))
    const reply = this.#reply(answer, verdict.messageId === undefined ? 'Accepted.' : `Accepted as ${verdict.messageId}.`)
    for (const address of reached) this.#note([address], refused.has(address.toLowerCase()) ? 'permanent' : 'accepted', reply)
    return reached
  }

  #refuse({ kind, code, message, retryAfterSeconds }: Refused, recipients: readonly string[], answer?: VendorAnswer): void {
    const { title } = httpProviders[this.#target.provider]
    const masked = shown(message, this.#target.secrets)
    this.#retryAfterSeconds = retryAfterSeconds
    if (kind === 'rate_limited')
      this.#error = {
        code: 'provider_rate_limited',
        message: `${title} limits the sending rate: ${masked}`,
        phase: 'final',
        class: 'rate_limited',
      }
    else if (kind === 'misconfigured')
      this.#error = {
        code: 'destination_misconfigured',
        message: `${title} rejected the settings of the destination: ${masked}`,
        phase: 'final',
        class: 'misconfigured',
      }
    else if (kind === 'transient' && answer && answer.status >= 500)
      // the fault affects all messages, so the circuit breaker of the destination counts it
      this.#error = { code: 'provider_failed', message: `${title} reported an internal error: ${masked}`, phase: 'final' }
    else if (!answer) this.#error = { code, message: masked, phase: 'body' }
    this.#note(recipients, kind === 'permanent' ? 'permanent' : 'transient', answer && this.#reply(answer, message))
  }

  #note(recipients: readonly string[], verdict: RecipientVerdict, reply?: PeerReply): void {
    for (const address of recipients) this.#reports.set(address, { address, verdict, reply })
  }

  #reply({ status, text }: VendorAnswer, otherwise: string): PeerReply {
    return { code: status, text: shown(text.trim() === '' ? otherwise : text, this.#target.secrets) }
  }

  /**
   * Records the start of a request. With several requests, also records the known outcomes before the provider can accept the next request.
   */
  #record(reached: readonly string[]): Promise<void> {
    if (reached.length === this.#job.rcptTo.length) return this.#job.beforeFinalDot()
    const fresh = [...this.#reports.values()].slice(this.#reported)
    this.#reported = this.#reports.size
    return this.#job.beforeFinalDot([...fresh, ...reached.map((address) => ({ address, verdict: 'unknown' as const }))])
  }
}

/** Returns text of a provider for storage: without secrets and control characters, and with a limited length. */
export function shown(text: string, secrets: readonly string[]): string {
  const reported = secrets.filter((secret) => secret !== '').reduce((masked, secret) => masked.replaceAll(secret, '***'), text)
  const clean = reported.replaceAll(/[^\P{C}\n]/gu, ' ').trim()
  return clean.length > maxReply ? `${clean.slice(0, maxReply).toWellFormed()}…` : clean
}
