/** One delivery attempt over HTTP: as many requests as it takes, one after the other, and one report. */
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

/** A gateway handed the message on and got no answer in time, so the provider may have it (RFC 9110 §15.6.5; 524 is Cloudflare's). */
const lateStatuses: ReadonlySet<number> = new Set([504, 524])

/** When so many are refused each alone, and none was taken, the others are not tried. */
const maxRefusedAlone = 2

/** Characters of an answer that are kept in a report. */
const maxReply = 1000

export interface AttemptOptions extends Omit<CallOptions, 'signal' | 'beforeLastByte'> {
  readonly reader: Pick<PartsReader, 'read'>
}

type Refused = Exclude<VendorVerdict, { readonly kind: 'accepted' }>

/** What a vendor needs for making requests; further requests go through `ask`, which throws `Failure`. */
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
  /** From now on each recipient gets a request of its own. */
  #isSplit = false
  /** So many of the reports are on record. */
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
    // One after the other: what ends the attempt for one request ends it for those that come after.
    while (left.length > 0 && this.#error === undefined) {
      const reached = await this.#send(left.slice(0, this.#isSplit ? 1 : most))
      left = left.filter((address) => !reached.includes(address))
      const words = [...this.#reports.values()]
      if (!this.#isSplit || words.length < maxRefusedAlone || words.some(({ verdict }) => verdict !== 'permanent')) continue
      this.#note(left, 'permanent', words.at(-1)?.reply) // it is the message and not a recipient
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

  /** Makes one request; returns for whom. */
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

  /** Returns whose outcome is known now: none when several were refused together, which may be because of one of them. */
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
    const words = shown(message, this.#target.secrets)
    this.#retryAfterSeconds = retryAfterSeconds
    if (kind === 'rate_limited')
      this.#error = {
        code: 'provider_rate_limited',
        message: `${title} wants no more mail for now: ${words}`,
        phase: 'final',
        class: 'rate_limited',
      }
    else if (kind === 'misconfigured')
      this.#error = {
        code: 'destination_misconfigured',
        message: `${title} does not accept the settings of the destination: ${words}`,
        phase: 'final',
        class: 'misconfigured',
      }
    else if (kind === 'transient' && answer && answer.status >= 500)
      // it meets every message alike, so that the breaker of the destination counts it
      this.#error = { code: 'provider_failed', message: `${title} has a fault of its own: ${words}`, phase: 'final' }
    else if (!answer) this.#error = { code, message: words, phase: 'body' }
    this.#note(recipients, kind === 'permanent' ? 'permanent' : 'transient', answer && this.#reply(answer, message))
  }

  #note(recipients: readonly string[], verdict: RecipientVerdict, reply?: PeerReply): void {
    for (const address of recipients) this.#reports.set(address, { address, verdict, reply })
  }

  #reply({ status, text }: VendorAnswer, otherwise: string): PeerReply {
    return { code: status, text: shown(text.trim() === '' ? otherwise : text, this.#target.secrets) }
  }

  /** Where it takes several requests, whoever has a word has it on record before the next one can be taken. */
  #record(reached: readonly string[]): Promise<void> {
    if (reached.length === this.#job.rcptTo.length) return this.#job.beforeFinalDot()
    const fresh = [...this.#reports.values()].slice(this.#reported)
    this.#reported = this.#reports.size
    return this.#job.beforeFinalDot([...fresh, ...reached.map((address) => ({ address, verdict: 'unknown' as const }))])
  }
}

/** Words of a provider as they may be kept: without secrets, without control characters, and not too many. */
export function shown(text: string, secrets: readonly string[]): string {
  const reported = secrets.filter((secret) => secret !== '').reduce((words, secret) => words.replaceAll(secret, '***'), text)
  const clean = reported.replaceAll(/[^\P{C}\n]/gu, ' ').trim()
  return clean.length > maxReply ? `${clean.slice(0, maxReply).toWellFormed()}…` : clean
}
