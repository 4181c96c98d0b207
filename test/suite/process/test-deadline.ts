/**
 * The deadline of one test, counted in one-second ticks of its own process. A paused or starved process gets no ticks, so the deadline
 * needs no allowance for slow machines.
 */
import { clearInterval, setInterval } from 'node:timers'
import { endWaits, waitsInProgress } from '../../support/waits.ts'

export class Deadline implements Disposable {
  readonly #late = Promise.withResolvers<never>()
  readonly #timer: NodeJS.Timeout
  #seconds: number
  #ticks = 0

  constructor(seconds: number) {
    this.#seconds = seconds
    this.#late.promise.catch(() => {})
    this.#timer = setInterval(() => this.#tick(), 1000)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  /** Gives the test more time than others of its lane have. */
  extend(seconds: number): void {
    this.#seconds = Math.max(this.#seconds, seconds)
  }

  /** Whether so many ticks have passed since this call. */
  inSeconds(seconds: number): () => boolean {
    const end = this.#ticks + seconds
    return () => this.#ticks >= end
  }

  /** The outcome of the work, or an error that names the waits in progress at the deadline. */
  within(work: unknown): Promise<unknown> {
    return Promise.race([work, this.#late.promise])
  }

  #tick(): void {
    this.#ticks += 1
    if (this.#ticks !== this.#seconds) return
    const waits = waitsInProgress()
    const reason = waits.length === 0 ? 'no wait has a name' : `waits in progress: ${waits.join(', ')}`
    this.#late.reject(new Error(`the test has not ended after ${String(this.#seconds)} s (${reason})`))
    endWaits()
  }
}
