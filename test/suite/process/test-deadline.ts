/**
 * The deadline of one test, counted in one-second ticks of its process. A paused process gets no ticks. Time that the process waits for a
 * processor does not count, so the deadline needs no allowance for busy machines.
 */
import { readFileSync } from 'node:fs'
import { clearInterval, setInterval } from 'node:timers'
import { endWaits, waitsInProgress } from '../../support/waits.ts'

/** Share of the ticks that counts at least, so that a hanging test ends on any machine. */
const leastShare = 0.2

/** Seconds of a deadline that have passed. `waited`: seconds in which the process was ready but other processes ran. */
export const countedSeconds = (ticks: number, waited: number): number => Math.max(ticks - waited, ticks * leastShare)

/** Seconds that the main thread of this process has waited for a processor; 0 if the system does not count them. */
function waitedSeconds(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e9
  } catch {
    return 0
  }
}

/** Seconds for the teardowns of a test after its deadline. */
const teardownSeconds = 10

export class Deadline implements Disposable {
  readonly #late = Promise.withResolvers<never>()
  readonly #timer: NodeJS.Timeout
  readonly #seconds: number
  readonly #what: string
  readonly #waitedBefore = waitedSeconds()
  #ticks = 0
  #isLate = false

  constructor(seconds: number, what = 'the test') {
    this.#seconds = seconds
    this.#what = what
    this.#late.promise.catch(() => {})
    this.#timer = setInterval(() => this.#tick(), 1000)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  /** Returns a function that returns whether this number of seconds has passed. */
  inSeconds(seconds: number): () => boolean {
    const end = this.#passed + seconds
    return () => this.#passed >= end
  }

  /** The outcome of the work, or an error that names the waits in progress at the deadline. */
  within<Result>(work: Result | Promise<Result>): Promise<Result> {
    return Promise.race([work, this.#late.promise])
  }

  get #passed(): number {
    return countedSeconds(this.#ticks, waitedSeconds() - this.#waitedBefore)
  }

  #tick(): void {
    this.#ticks += 1
    const passed = this.#passed
    // an uncaught error ends the process, as nothing else can end a teardown
    if (passed >= this.#seconds + teardownSeconds) throw this.#error(this.#seconds + teardownSeconds)
    if (this.#isLate || passed < this.#seconds) return
    this.#isLate = true
    this.#late.reject(this.#error(this.#seconds))
    endWaits()
  }

  #error(seconds: number): Error {
    const waits = waitsInProgress()
    const reason = waits.length === 0 ? 'no wait has a name' : `waits in progress: ${waits.join(', ')}`
    return new Error(`${this.#what} has not ended after ${String(seconds)} s (${reason})`)
  }
}
