/** How often something may be done: a sliding window in memory, by who does it. */
import type { Clock } from '../clock.ts'
import { Refusal } from '../refusals.ts'
import { RecentTries } from './recent-tries.ts'

export interface RateLimit {
  readonly windowMs: number
  readonly most: number
  /** Said to who tried too often. */
  readonly message: string
}

export class RateWindow {
  readonly #clock: Clock
  readonly #limit: RateLimit
  readonly #tries: RecentTries

  constructor(clock: Clock, limit: RateLimit) {
    this.#clock = clock
    this.#limit = limit
    this.#tries = new RecentTries(clock, limit.windowMs)
  }

  /** Counts one try. Throws `rate_limit_exceeded`, which counts nothing. */
  take(key: string): void {
    this.check(key)
    this.#tries.add(key, this.#limit.most)
  }

  /** Throws `rate_limit_exceeded` when there were too many tries; counts nothing. */
  check(key: string): void {
    const { windowMs, most, message } = this.#limit
    const recent = this.#tries.of(key)
    if (recent.length < most) return
    const now = this.#clock.monotonic()
    const [oldest = now] = recent
    throw new Refusal('rate_limit_exceeded', message, { retryAfterSeconds: Math.ceil((oldest + windowMs - now) / 1000) })
  }
}
