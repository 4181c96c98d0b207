/** Work that is done in rounds, each of which does all that waits in the store; what comes in one is found by the next. */
import type { Clock, Timer } from './clock.ts'

export interface WorkLoopOptions {
  /** Does what waits, and ends early when `stopping` says so. */
  readonly round: (stopping: () => boolean) => Promise<void>
  /** Is notified of a round that failed; the next wake begins another one. */
  readonly onError: (error: unknown) => void
}

export class WorkLoop {
  readonly #options: WorkLoopOptions
  #running: Promise<void> | undefined
  #again = false
  #stopping = false

  constructor(options: WorkLoopOptions) {
    this.#options = options
  }

  get stopping(): boolean {
    return this.#stopping
  }

  /** Something may be waiting. */
  wake(): void {
    if (this.#stopping) return
    this.#again = true
    this.#running ??= this.#run()
  }

  /** Resolves when no round is under way. */
  async idle(): Promise<void> {
    await this.#running
  }

  /** Lets no other round begin, and waits for the one under way. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopping) {
      this.#again = false
      try {
        await this.#options.round(() => this.#stopping)
      } catch (error) {
        this.#options.onError(error)
      }
    }
    this.#running = undefined // in the same tick as the last look at `#again`
  }
}

export interface TimedRoundsOptions extends WorkLoopOptions {
  readonly clock: Clock
  readonly everyMs: number
  /** Is called at the start, with what else may wake it. */
  readonly listen?: (wake: () => void) => void
}

/** Rounds that also begin by themselves, for what time alone changes. */
export class TimedRounds extends WorkLoop {
  readonly #options: TimedRoundsOptions
  #timer: Timer | undefined

  constructor(options: TimedRoundsOptions) {
    super(options)
    this.#options = options
  }

  /** Looks at once, which takes up what an earlier process left, and from then on by itself. */
  start(): void {
    const { clock, everyMs, listen } = this.#options
    listen?.(() => this.wake())
    this.#timer?.cancel()
    this.#timer = clock.after(everyMs, () => this.start())
    this.wake()
  }

  /** Ends between two writes; the next start goes on. */
  override async stop(): Promise<void> {
    this.#timer?.cancel()
    await super.stop()
  }
}
