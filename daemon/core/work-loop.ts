/** Runs background work in rounds. Each round processes all stored items; items added during a round are processed in the next. */
import type { Clock, Timer } from './clock.ts'

export interface WorkLoopOptions {
  /** Processes waiting items; returns early if `stopping()` is true. */
  readonly round: (stopping: () => boolean) => Promise<void>
  /** Notified of a failed round. The next wake or the retry begins another one. */
  readonly onError: (error: unknown) => void
  readonly clock: Clock
  /** Milliseconds from a failed round to its retry; default one minute. */
  readonly retryMs?: number
}

/** Rounds fail when the store fails, and stored items trigger no further wake. */
const usualRetryMs = 60_000

export class WorkLoop {
  readonly #options: WorkLoopOptions
  #retry: Timer | undefined
  #running: Promise<void> | undefined
  #again = false
  #stopping = false

  constructor(options: WorkLoopOptions) {
    this.#options = options
  }

  get stopping(): boolean {
    return this.#stopping
  }

  /** Starts a round, because items may be waiting. */
  wake(): void {
    if (this.#stopping) return
    this.#again = true
    this.#running ??= this.#run()
  }

  /** Resolves when no round is running. */
  async idle(): Promise<void> {
    await this.#running
  }

  /** Prevents further rounds, and waits for the current round. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#retry?.cancel()
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopping) {
      this.#again = false
      this.#retry?.cancel()
      try {
        await this.#options.round(() => this.#stopping)
      } catch (error) {
        this.#options.onError(error)
        this.#retryLater()
      }
    }
    this.#running = undefined // in the same tick as the last check of `#again`
  }

  #retryLater(): void {
    const { clock, retryMs = usualRetryMs } = this.#options
    if (!this.#stopping) this.#retry = clock.after(retryMs, () => this.wake())
  }
}

export interface DueRoundsOptions extends WorkLoopOptions {
  /** Due time of the next item, in milliseconds since 1970; Infinity without items. */
  readonly nextDueMs: () => Promise<number>
}

/** Maximum time between reads of the store. Timers use the monotonic clock, but the wall clock of due times can be set forward. */
const maxAlarmMs = 60_000
/** Delay before retrying an item that could not be rescheduled. */
const minAlarmMs = 1000

/** Rounds that begin when a stored item is due. */
export class DueRounds {
  readonly #options: DueRoundsOptions
  readonly #loop: WorkLoop
  #alarm: Timer | undefined

  constructor(options: DueRoundsOptions) {
    this.#options = options
    this.#loop = new WorkLoop({ ...options, round: (stopping) => this.#round(stopping) })
  }

  /** Starts a round immediately, which also finds items of an earlier process. */
  wake(): void {
    this.#loop.wake()
  }

  /** Resolves when no round is running. */
  idle(): Promise<void> {
    return this.#loop.idle()
  }

  async stop(): Promise<void> {
    this.#alarm?.cancel()
    await this.#loop.stop()
    this.#alarm?.cancel()
  }

  async #round(stopping: () => boolean): Promise<void> {
    try {
      await this.#options.round(stopping)
    } catch (error) {
      this.#options.onError(error)
    }
    await this.#setAlarm()
  }

  async #setAlarm(): Promise<void> {
    const { clock, nextDueMs } = this.#options
    const dueMs = await nextDueMs()
    this.#alarm?.cancel()
    if (dueMs === Infinity || this.#loop.stopping) return
    this.#alarm = clock.after(Math.min(maxAlarmMs, Math.max(minAlarmMs, dueMs - clock.now())), () => this.wake())
  }
}

export interface TimedRoundsOptions extends WorkLoopOptions {
  readonly everyMs: number
  /** Called at the start, to register further triggers. */
  readonly listen?: (wake: () => void) => void
}

/** Rounds that also begin periodically, for changes that depend only on time. */
export class TimedRounds extends WorkLoop {
  readonly #options: TimedRoundsOptions
  #timer: Timer | undefined

  constructor(options: TimedRoundsOptions) {
    super({ ...options, retryMs: options.everyMs })
    this.#options = options
  }

  /** Starts a round immediately, which also finds items of an earlier process, and then periodically. */
  start(): void {
    const { clock, everyMs, listen } = this.#options
    listen?.(() => this.wake())
    this.#timer?.cancel()
    this.#timer = clock.after(everyMs, () => this.start())
    this.wake()
  }

  /** Stops between two writes; the next start continues. */
  override async stop(): Promise<void> {
    this.#timer?.cancel()
    await super.stop()
  }
}
