/**
 * Periodic maintenance: removes expired rows and abandoned sandboxes, and frees the space of deleted large values. Pauses between writes.
 */
import type { Clock, Timer } from '#core/clock.ts'
import type { Database } from '#store/database.ts'

export interface HousekeepingOptions {
  readonly database: Database
  readonly clock: Clock
  /** Removes unused sandboxes. */
  readonly sweepSandboxes: () => Promise<number>
  /** Frees space of the store. */
  readonly collect: () => Promise<number>
  readonly onError: (error: unknown) => void
}

const everyMs = 10 * 60_000
const soonMs = 30_000

export class Housekeeping {
  readonly #options: HousekeepingOptions
  #timer: Timer | undefined
  #isHurried = false
  #commits = -1
  #running: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: HousekeepingOptions) {
    this.#options = options
  }

  /** Schedules the next round, after the end of the previous one. */
  start(): void {
    if (this.#isStopped) return
    this.#timer = this.#options.clock.after(this.#isHurried ? soonMs : everyMs, () => {
      this.#timer = undefined
      this.#isHurried = false
      this.#running = this.#round()
        .catch(this.#options.onError)
        .finally(() => this.start())
    })
  }

  /** Brings the next round forward after many deletions. */
  hurry(): void {
    if (this.#isHurried) return
    this.#isHurried = true
    if (!this.#timer) return // the end of the current round starts the timer
    this.#timer.cancel()
    this.start()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#running
  }

  async #round(): Promise<void> {
    const { database, clock, sweepSandboxes, collect } = this.#options
    if (database.commits !== this.#commits) {
      await database.sweep(clock.now())
      await collect()
      this.#commits = database.commits
    }
    await sweepSandboxes() // also without writes, because sandboxes expire by time
  }
}
