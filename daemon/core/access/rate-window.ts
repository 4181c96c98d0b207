/** How often something was tried lately, by who tried it: a sliding window in memory, where a flood costs no disk and little room. */
import type { Clock } from '../clock.ts'
import { Refusal } from '../refusals.ts'

export interface RateLimit {
  readonly windowMs: number
  readonly most: number
  /** Said to who tried too often. */
  readonly message: string
}

/** Beyond this many keys the oldest are forgotten. */
const keysMax = 50_000

export class RateWindow {
  readonly #clock: Clock
  readonly #limit: RateLimit
  // two generations, so that forgetting the oldest costs nothing
  #young = new Map<string, readonly number[]>()
  #old = new Map<string, readonly number[]>()

  constructor(clock: Clock, limit: RateLimit) {
    this.#clock = clock
    this.#limit = limit
  }

  /** Counts one try. Throws `rate_limit_exceeded`, which counts nothing. */
  take(key: string): void {
    const recent = this.check(key)
    this.#young.set(key, [...recent, this.#clock.monotonic()])
    if (this.#young.size < keysMax / 2) return
    this.#old = this.#young
    this.#young = new Map()
  }

  /** The tries that count now. Throws `rate_limit_exceeded` when there are too many; counts nothing. */
  check(key: string): readonly number[] {
    const now = this.#clock.monotonic()
    const { windowMs, most, message } = this.#limit
    const recent = (this.#young.get(key) ?? this.#old.get(key) ?? []).filter((at) => at > now - windowMs)
    const [oldest = now] = recent
    if (recent.length < most) return recent
    throw new Refusal('rate_limit_exceeded', message, { retryAfterSeconds: Math.ceil((oldest + windowMs - now) / 1000) })
  }
}
