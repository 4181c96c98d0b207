/**
 * Sends bounces and complaints of simulated recipients, as mail servers and mailbox providers do. The core handles them like real reports.
 */
import type { Clock, Timer } from '#core/clock.ts'
import type { FeedbackTaker } from '#core/feedback/feedback-origin.ts'
import { faultOf, type Fault } from '#core/mail-tests/fault.ts'
import type { ReportReader } from '#ingest/report/report-reader.ts'
import { bounceMail, complaintMail, type Returned } from './report-mail.ts'

export interface LaterReportsOptions {
  readonly feedback: Pick<FeedbackTaker, 'take'>
  readonly readReport: ReportReader['read']
  readonly organizationId: string
  /** Whether the trace contains the delivery to the recipient. */
  readonly isRecorded: (sendId: string, recipient: string) => Promise<boolean>
  /** The ingest source of the reports. */
  readonly sourceId: string
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** A delivered mail. */
export interface Delivered {
  readonly rcptTo: readonly string[]
  readonly mailFrom: string
  /** The header block, and possibly part of the body. */
  readonly head: Uint8Array
  /** Trace id of the send. */
  readonly sendId: string | undefined
}

interface Report {
  readonly sendId: string | undefined
  readonly recipient: string
  readonly makeMail: (nowMs: number) => Buffer
}

const againSeconds = 0.02
const maxTries = 500

export class LaterReports {
  readonly #options: LaterReportsOptions
  readonly #waiting = new Set<Timer>()
  readonly #inFlight = new Set<Promise<void>>()

  constructor(options: LaterReportsOptions) {
    this.#options = options
  }

  /** Schedules a report for each recipient whose address requests it. */
  expect({ rcptTo, mailFrom, head, sendId }: Delivered): void {
    for (const recipient of rcptTo) {
      const fault = faultOf(recipient)
      if (fault && isReported(fault))
        this.#after(secondsOf(fault), { sendId, recipient, makeMail: mailOf(fault, { recipient, mailFrom, head }) })
    }
  }

  /** Number of pending reports. */
  get expected(): number {
    return this.#waiting.size + this.#inFlight.size
  }

  /** Cancels reports that are not due yet, and waits for those in flight. */
  async stop(): Promise<void> {
    for (const timer of this.#waiting) timer.cancel()
    this.#waiting.clear()
    await Promise.all(this.#inFlight)
  }

  /** Waits for the delivery in the trace, because a report that arrives earlier is retried only after 15 seconds. */
  #after(seconds: number, report: Report, tries = 1): void {
    const { clock, onError } = this.#options
    const timer = clock.after(seconds * 1000, () => {
      this.#waiting.delete(timer)
      const taking = this.#takeOrWait(report, tries).catch(onError)
      this.#inFlight.add(taking)
      void taking.finally(() => this.#inFlight.delete(taking))
    })
    this.#waiting.add(timer)
  }

  async #takeOrWait(report: Report, tries: number): Promise<void> {
    const { clock, isRecorded } = this.#options
    const { sendId, recipient, makeMail } = report
    const isTime = tries >= maxTries || sendId === undefined || (await isRecorded(sendId, recipient))
    if (isTime) await this.#take(makeMail(clock.now()))
    else this.#after(againSeconds, report, tries + 1)
  }

  async #take(raw: Buffer): Promise<void> {
    const { feedback, readReport, organizationId, sourceId } = this.#options
    const { events } = await readReport(raw, organizationId)
    await feedback.take({ organizationId, sourceId, channel: 'signed', raw }, events)
  }
}

const isReported = ({ kind }: Fault): boolean => kind === 'bounce' || kind === 'dsn' || kind === 'complaint'
const secondsOf = ({ kind, amount }: Fault): number => (kind === 'bounce' ? 0 : amount)

const mailOf =
  ({ kind, amount }: Fault, returned: Returned) =>
  (nowMs: number): Buffer =>
    kind === 'complaint' ? complaintMail(returned, nowMs) : bounceMail(returned, kind === 'bounce' ? amount : 550, nowMs)
