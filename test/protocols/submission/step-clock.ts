/** A clock that a test moves. Delays of up to three seconds pass by themselves, so that a dialog need not wait for them. */
import type { Clock, Timer } from '#core/clock.ts'

const shortMs = 3000

export class StepClock implements Clock {
  /** The short delays that were asked for. */
  readonly delays: number[] = []
  readonly #pending = new Set<{ readonly at: number; readonly work: () => void }>()
  #elapsed = 0

  now(): number {
    return Date.UTC(2030, 0, 1) + this.#elapsed
  }

  monotonic(): number {
    return this.#elapsed
  }

  after(ms: number, work: () => void): Timer {
    if (ms > 0 && ms <= shortMs) {
      this.delays.push(ms)
      const handle = setImmediate(work)
      return { cancel: () => clearImmediate(handle) }
    }
    const entry = { at: this.#elapsed + ms, work }
    this.#pending.add(entry)
    return { cancel: () => this.#pending.delete(entry) }
  }

  advance(ms: number): void {
    const end = this.#elapsed + ms
    for (let due = this.#next(end); due; due = this.#next(end)) {
      this.#pending.delete(due)
      this.#elapsed = Math.max(this.#elapsed, due.at)
      due.work()
    }
    this.#elapsed = end
  }

  get pending(): number {
    return this.#pending.size
  }

  #next(end: number): { readonly at: number; readonly work: () => void } | undefined {
    return [...this.#pending].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0]
  }
}
