/** Tries reports again that came too early, while any wait; those of an earlier process too. */
import type { Database } from '#store/database.ts'
import type { Clock, Timer } from '../clock.ts'
import type { Feedback } from './feedback.ts'
import { pendingReports } from './pending-report.ts'

export interface PendingReportsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly feedback: Pick<Feedback, 'retry'>
  readonly onError: (error: unknown) => void
}

const everyMs = 15_000

export class PendingReports {
  readonly #options: PendingReportsOptions
  #timer: Timer | undefined
  #running: Promise<void> = Promise.resolve()
  #stopping = false

  constructor(options: PendingReportsOptions) {
    this.#options = options
  }

  /** Something waits, or may have been left by an earlier process. */
  wake(): void {
    if (this.#stopping || this.#timer) return
    this.#timer = this.#options.clock.after(everyMs, () => {
      this.#running = this.round().catch(this.#options.onError)
    })
  }

  /** Ends between two reports. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#timer?.cancel()
    await this.#running
  }

  /** Tries each once. */
  async round(): Promise<void> {
    this.#timer = undefined
    let waits = false
    try {
      for await (const pending of pendingReports(this.#options.database)) {
        if (this.#stopping) return
        waits = true
        await this.#options.feedback.retry(pending)
      }
    } finally {
      if (waits) this.wake()
    }
  }
}
