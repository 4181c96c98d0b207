/** Retries pending reports at intervals while any exist, including reports that an earlier process stored. */
import { Change } from '#store/change.ts'
import type { Core } from '../../core.ts'
import type { Timer } from '../../clock.ts'
import type { Feedback } from './feedback.ts'
import { pendingMs, pendingKey, pendingReports, type PendingReport } from './pending-report.ts'
import type { WaitingRoom } from './waiting-room.ts'

export interface PendingReportsOptions extends Core {
  readonly feedback: Pick<Feedback, 'retry'>
  readonly room: WaitingRoom
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

  /** Schedules a round. Called after a report was stored and at startup. */
  wake(): void {
    if (this.#stopping || this.#timer) return
    this.#timer = this.#options.clock.after(everyMs, () => {
      this.#running = this.round().catch(this.#options.onError)
    })
  }

  /** Stops after the report in progress. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#timer?.cancel()
    await this.#running
  }

  /** Retries each pending report once. An internal error in one report does not delay the others. */
  async round(): Promise<void> {
    this.#timer = undefined
    const counts = new Map<string, number>()
    let waits = false
    try {
      for await (const pending of pendingReports(this.#options.database)) {
        if (this.#stopping) return
        waits = true
        const { organizationId } = pending.origin
        if (!(await this.#try(pending)) && organizationId !== null) counts.set(organizationId, (counts.get(organizationId) ?? 0) + 1)
      }
      this.#options.room.correct(counts)
    } finally {
      if (waits) this.wake()
    }
  }

  /**
   * Returns true if the report is no longer pending. Gives up a report that fails after its time limit, so that it does not fail forever.
   */
  async #try(pending: PendingReport): Promise<boolean> {
    const { database, clock, feedback, onError } = this.#options
    try {
      return await feedback.retry(pending)
    } catch (error) {
      onError(error)
      if (clock.now() - pending.since < pendingMs) return false
      await database.commit(new Change().delete(pendingKey(pending.id)))
      return true
    }
  }
}
