/** Work that is done in rounds, each of which does all that waits in the store; what comes in one is found by the next. */
import type { Clock, Timer } from './clock.ts'

export interface WorkLoopOptions {
  /** Does what waits, and ends early when `stopping` says so. */
  readonly round: (stopping: () => boolean) => Promise<void>
  /** Is notified of a failed round. The next wake begins another one, or the retry. */
  readonly onError: (error: unknown) => void
  readonly clock: Clock
  /** Milliseconds from a failed round to its retry; a minute by default. */
  readonly retryMs?: number
}

/** A round fails because the store does, and no wake follows for stored items. */
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
    this.#running = undefined // in the same tick as the last look at `#again`
  }

  #retryLater(): void {
    const { clock, retryMs = usualRetryMs } = this.#options
    if (!this.#stopping) this.#retry = clock.after(retryMs, () => this.wake())
  }
}

export interface DueRoundsOptions extends WorkLoopOptions {
  /** When the next item is due, in milliseconds since 1970; infinite when there is none. */
  readonly nextDueMs: () => Promise<number>
}

/** Timers use the monotonic clock and due times the wall clock, which can be set forward: the store is read at least this often. */
const maxAlarmMs = 60_000
/** An item that could not even be put off is tried again after this time. */
const minAlarmMs = 1000

/** Rounds that begin when an item in the store is due. */
export class DueRounds {
  readonly #options: DueRoundsOptions
  readonly #loop: WorkLoop
  #alarm: Timer | undefined

  constructor(options: DueRoundsOptions) {
    this.#options = options
    this.#loop = new WorkLoop({ ...options, round: (stopping) => this.#round(stopping) })
  }

  /** Looks at once, which also finds items that an earlier process left. */
  wake(): void {
    this.#loop.wake()
  }

  /** Resolves when no round is under way. */
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
  /** Is called at the start, with what else may wake it. */
  readonly listen?: (wake: () => void) => void
}

/** Rounds that also begin by themselves, for what time alone changes. */
export class TimedRounds extends WorkLoop {
  readonly #options: TimedRoundsOptions
  #timer: Timer | undefined

  constructor(options: TimedRoundsOptions) {
    super({ ...options, retryMs: options.everyMs })
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
