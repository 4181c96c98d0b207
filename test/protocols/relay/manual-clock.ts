/** A clock that a test moves by hand. Timers run when the time they wait for is passed, in their order. */
import type { Clock, Timer } from '#core/clock.ts'

export class ManualClock implements Clock {
  readonly #pending = new Set<{ readonly at: number; readonly work: () => void }>()
  #elapsed = 1

  now(): number {
    return Date.UTC(2030, 0, 1) + this.#elapsed
  }

  monotonic(): number {
    return this.#elapsed
  }

  after(ms: number, work: () => void): Timer {
    const entry = { at: this.#elapsed + ms, work }
    this.#pending.add(entry)
    return { cancel: () => this.#pending.delete(entry) }
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#pending.size
  }

  advance(ms: number): void {
    const end = this.#elapsed + ms
    for (;;) {
      const due = [...this.#pending].filter((entry) => entry.at <= end).sort((a, b) => a.at - b.at)[0]
      if (due === undefined) break
      this.#pending.delete(due)
      this.#elapsed = Math.max(this.#elapsed, due.at)
      due.work()
    }
    this.#elapsed = end
  }
}
