/** When something was tried lately, by who tried it: in memory, where a flood costs no disk and little room. */
import type { Clock } from '../clock.ts'

/** Beyond this many keys the oldest are forgotten. */
const maxKeys = 50_000

export class RecentTries {
  readonly #clock: Clock
  readonly #windowMs: number
  // two generations, so that forgetting the oldest costs nothing
  #young = new Map<string, readonly number[]>()
  #old = new Map<string, readonly number[]>()

  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock
    this.#windowMs = windowMs
  }

  /** The tries of the window that ends now, in milliseconds on the monotonic clock, the oldest first. */
  of(key: string): readonly number[] {
    const since = this.#clock.monotonic() - this.#windowMs
    return (this.#young.get(key) ?? this.#old.get(key) ?? []).filter((at) => at > since)
  }

  /** Counts one try. Of each key the last `most` are kept, as no limit looks at more. */
  add(key: string, most: number): void {
    this.#young.set(key, [...this.of(key), this.#clock.monotonic()].slice(-most))
    if (this.#young.size < maxKeys / 2) return
    this.#old = this.#young
    this.#young = new Map()
  }

  clear(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }
}
