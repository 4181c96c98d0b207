/** Times of recent attempts by actor. Stored in memory, so that a flood uses no disk and little memory. */
import type { Clock } from '../clock.ts'

/** Beyond this number of keys, the oldest are discarded. */
const maxKeys = 50_000

export class RecentTries {
  readonly #clock: Clock
  readonly #windowMs: number
  // two generations, so that discarding the oldest is cheap
  #young = new Map<string, readonly number[]>()
  #old = new Map<string, readonly number[]>()

  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock
    this.#windowMs = windowMs
  }

  /** Returns the attempts in the window that ends now, in milliseconds of the monotonic clock, oldest first. */
  of(key: string): readonly number[] {
    const since = this.#clock.monotonic() - this.#windowMs
    return (this.#young.get(key) ?? this.#old.get(key) ?? []).filter((at) => at > since)
  }

  /** Counts an attempt. Stores the last `most` attempts of each key, because no limit needs more. */
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
