/** Parses report mails without blocking the daemon: small mails directly, larger ones on threads. Organizations take turns. */
import type { Clock } from '#core/clock.ts'
import type { ReportReading } from '#core/feedback/event.ts'
import { ParserPool, usualLimits, type ParserPoolLimits } from '../threads/parser-pool.ts'
import { readReport } from './report.ts'

/** `problem` explains to people why a mail could not be parsed. `kind` is `none` in this case, but the mail exists. */
export type ReportResult = ReportReading & { readonly problem?: string }

/** Largest mail that is parsed directly, in a few milliseconds. */
const maxInline = 64 * 1024
/** A larger mail is truncated to this size. */
const maxOctets = 32 * 1024 * 1024
const entry = new URL('./report-worker.ts', import.meta.url)

export class ReportReader implements AsyncDisposable {
  readonly #threads: ParserPool

  /** The first large mail starts a thread. `limits` and `workerEntry` are for tests. */
  constructor(clock: Clock, limits: ParserPoolLimits = usualLimits, workerEntry: URL = entry) {
    this.#threads = new ParserPool(workerEntry, clock, limits)
  }

  /** True while a parsing thread exists. */
  get running(): boolean {
    return this.#threads.running
  }

  /** Parses a mail. `turn` is the key of the round robin: an organization or a sender's address. */
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
