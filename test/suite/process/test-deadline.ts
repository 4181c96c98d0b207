/**
 * The deadline of one test, counted in one-second ticks of its own process. A paused or starved process gets no ticks, so the deadline
 * needs no allowance for slow machines.
 */
import { clearInterval, setInterval } from 'node:timers'
import { endWaits, waitsInProgress } from '../../support/waits.ts'

/** Seconds for the teardowns of a test after its deadline. */
const teardownSeconds = 10

export class Deadline implements Disposable {
  readonly #late = Promise.withResolvers<never>()
  readonly #timer: NodeJS.Timeout
  readonly #seconds: number
  readonly #what: string
  #ticks = 0

  constructor(seconds: number, what = 'the test') {
    this.#seconds = seconds
    this.#what = what
    this.#late.promise.catch(() => {})
    this.#timer = setInterval(() => this.#tick(), 1000)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  /** Whether so many ticks have passed since this call. */
  inSeconds(seconds: number): () => boolean {
    const end = this.#ticks + seconds
    return () => this.#ticks >= end
  }

  /** The outcome of the work, or an error that names the waits in progress at the deadline. */
  within<Result>(work: Result | Promise<Result>): Promise<Result> {
    return Promise.race([work, this.#late.promise])
  }

  #tick(): void {
    this.#ticks += 1
    // an uncaught error ends the process, as nothing else can end a teardown
    if (this.#ticks === this.#seconds + teardownSeconds) throw this.#error()
    if (this.#ticks !== this.#seconds) return
    this.#late.reject(this.#error())
    endWaits()
  }

  #error(): Error {
    const waits = waitsInProgress()
    const reason = waits.length === 0 ? 'no wait has a name' : `waits in progress: ${waits.join(', ')}`
    return new Error(`${this.#what} has not ended after ${String(this.#ticks)} s (${reason})`)
  }
}
