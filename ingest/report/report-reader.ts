/** Reads report mails without holding up the daemon: small ones at once, larger ones on threads, organizations in turn. */
import type { Clock } from '#core/clock.ts'
import type { ReportReading } from '#core/feedback/event.ts'
import { ParserPool, usualLimits, type ParserPoolLimits } from '../threads/parser-pool.ts'
import { readReport } from './report.ts'

/** `problem` says to people why a mail could not be read; the reading is `none` then, and the mail is nevertheless there. */
export type ReportResult = ReportReading & { readonly problem?: string }

/** Up to here a mail is read where it is; that takes a few milliseconds. */
const maxInline = 64 * 1024
/** As much as is read of any mail. */
const maxOctets = 32 * 1024 * 1024
const entry = new URL('./report-worker.ts', import.meta.url)

export class ReportReader implements AsyncDisposable {
  readonly #threads: ParserPool

  /** A thread starts with the first large mail; `limits` and `workerEntry` are for tests. */
  constructor(clock: Clock, limits: ParserPoolLimits = usualLimits, workerEntry: URL = entry) {
    this.#threads = new ParserPool(workerEntry, clock, limits)
  }

  /** Whether a parsing thread exists at the moment. */
  get running(): boolean {
    return this.#threads.running
  }

  /** `turn`: whose mail it is, an organization or the address of a sender; these take turns. */
  async read(mail: Uint8Array, turn = ''): Promise<ReportResult> {
    if (mail.length <= maxInline) return readReport(mail)
    const place = { turn, octets: Math.min(mail.length, maxOctets) }
    const answer = await this.#threads.ask(place, () => ({ kind: 'report', raw: new Uint8Array(mail.subarray(0, maxOctets)) }))
    if (answer.kind === 'report') return answer.reading
    return { kind: 'none', events: [], problem: answer.kind === 'failed' ? answer.sentence : 'The message could not be parsed.' }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#threads[Symbol.asyncDispose]()
  }
}
