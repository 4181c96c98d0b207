/** One call of `deliver` on its way through the pool, until its one report. */
import type { AttemptReport, DeliveryJob, SmtpTarget } from '#core/delivery/transport.ts'

/** Whoever holds a delivery at the moment, and can let go of it. */
export interface DeliveryHolder {
  abort(delivery: Delivery): void
}

/** A job with its way back. Settled exactly once. */
export class Delivery {
  readonly target: SmtpTarget
  readonly job: DeliveryJob
  /** Milliseconds on the monotonic clock. */
  readonly submittedAt: number
  /** Called when the job's signal fires. */
  holder: DeliveryHolder | undefined
  /** The first link was found dead; this delivery takes a new one, and no third. */
  retried = false

  readonly #resolve: (report: AttemptReport) => void
  #recorded: Promise<void> | undefined
  #settled = false

  constructor(target: SmtpTarget, job: DeliveryJob, submittedAt: number, resolve: (report: AttemptReport) => void) {
    this.target = target
    this.job = job
    this.submittedAt = submittedAt
    this.#resolve = resolve
    job.signal.addEventListener('abort', this.#onAbort)
  }

  get settled(): boolean {
    return this.#settled
  }

  /** The start of the attempt is recorded once, even when a second link is taken for it. */
  recordStart(): Promise<void> {
    this.#recorded ??= this.job.beforeFinalDot()
    return this.#recorded
  }

  settle(report: AttemptReport): void {
    if (this.#settled) return
    this.#settled = true
    this.holder = undefined
    this.job.signal.removeEventListener('abort', this.#onAbort)
    this.#resolve(report)
  }

  readonly #onAbort = (): void => this.holder?.abort(this)
}
