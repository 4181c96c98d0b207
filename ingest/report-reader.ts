/** Reads report mails without holding up the daemon: small ones at once, larger ones on a thread, one at a time, the others wait. */
import type { Clock } from '#core/clock.ts'
import type { ReportReading } from '#core/feedback/event.ts'
import { ParserThread, type ParserThreadLimits } from './parser-thread.ts'
import { readReport } from './report.ts'

/** `problem` says to people why a mail could not be read; the reading is `none` then, and the mail is nevertheless there. */
export type ReportResult = ReportReading & { readonly problem?: string }

/** Up to here a mail is read where it is; that takes a few milliseconds. */
const inlineMax = 64 * 1024
/** As much as is read of any mail. */
const octetsMax = 32 * 1024 * 1024
const defaultLimits: ParserThreadLimits = { deadlineMs: 10_000, idleMs: 30_000 }
const entry = new URL('./report-worker.ts', import.meta.url)

export class ReportReader implements AsyncDisposable {
  readonly #thread: ParserThread

  /** The thread starts with the first large mail; `limits` and `workerEntry` are for tests. */
  constructor(clock: Clock, limits: ParserThreadLimits = defaultLimits, workerEntry: URL = entry) {
    this.#thread = new ParserThread(workerEntry, clock, limits)
  }

  /** Whether the parsing thread exists at the moment. */
  get running(): boolean {
    return this.#thread.running
  }

  async read(mail: Uint8Array): Promise<ReportResult> {
    if (mail.length <= inlineMax) return readReport(mail)
    const answer = await this.#thread.askInTurn(() => ({ kind: 'report', raw: new Uint8Array(mail.subarray(0, octetsMax)) }))
    if (answer.kind === 'report') return answer.reading
    return { kind: 'none', events: [], problem: answer.kind === 'failed' ? answer.sentence : 'The message could not be parsed.' }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]()
  }
}
