/** Recurring small work: removes expired rows and deserted sandboxes, and frees the space of deleted large values. Rests between writes. */
import type { Clock, Timer } from '#core/clock.ts'
import type { Database } from '#store/database.ts'

export interface HousekeepingOptions {
  readonly database: Database
  readonly clock: Clock
  /** Removes sandboxes that are not used any more. */
  readonly sweepSandboxes: () => Promise<number>
  /** Frees space that the store can give back. */
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

  /** The next round begins so long after the end of the one before. */
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

  /** Much was deleted: the next round begins soon. */
  hurry(): void {
    if (this.#isHurried) return
    this.#isHurried = true
    if (!this.#timer) return // it is started when the round under way has ended
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
    await sweepSandboxes() // also while nothing is written: their time passes by itself
  }
}
