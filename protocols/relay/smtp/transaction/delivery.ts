/** A call of `deliver`, from the pool to its report. */
import type { AttemptReport, DeliveryJob, SmtpTarget } from '#core/delivery/transport.ts'

/** Current holder of a delivery, which can abort it. */
export interface DeliveryHolder {
  abort(delivery: Delivery): void
}

/** A job and the callback for its report. It is settled exactly once. */
export class Delivery {
  readonly target: SmtpTarget
  readonly job: DeliveryJob
  /** Milliseconds on the monotonic clock. */
  readonly submittedAt: number
  /** Called when the job's signal fires. */
  holder: DeliveryHolder | undefined
  /** The first link was closed. The delivery has moved to a new link, and cannot move again. */
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

  /** Records the start of the attempt once, even if a second link is used. */
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
