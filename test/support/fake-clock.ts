/** A clock that only moves when a test moves it: timers follow the monotonic time, and the wall clock can be set apart. */
import type { Clock, Timer } from '#core/clock.ts'

export const startOfTime = Date.UTC(2030, 0, 15, 12, 0, 0)

/** The time of the machine, for tests of what packages, peers and certificates compare with it. */
export const machineTime = (): number => Date.now()

export class FakeClock implements Clock {
  readonly #pending = new Set<{ readonly at: number; readonly work: () => void }>()
  /** The delays that passed by themselves. */
  readonly delays: number[] = []
  readonly #selfMs: number
  #wall: number
  #elapsed = 1000

  /** Delays of up to `selfMs` pass by themselves, so that a dialog need not wait for them. */
  constructor(wall: number = startOfTime, selfMs = 0) {
    this.#wall = wall
    this.#selfMs = selfMs
  }

  /** Begins at the time of the machine, for clients and peers that take the time from there. */
  static atMachineTime(): FakeClock {
    return new FakeClock(machineTime())
  }

  now(): number {
    return this.#wall
  }

  monotonic(): number {
    return this.#elapsed
  }

  after(ms: number, work: () => void): Timer {
    if (ms > 0 && ms <= this.#selfMs) {
      this.delays.push(ms)
      const handle = setImmediate(work)
      return { cancel: () => clearImmediate(handle) }
    }
    const entry = { at: this.#elapsed + Math.max(ms, 0), work }
    this.#pending.add(entry)
    return { cancel: () => void this.#pending.delete(entry) }
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#pending.size
  }

  /** Monotonic time of the next timer; `Infinity` without a timer. */
  get nextTimer(): number {
    let next = Infinity
    for (const { at } of this.#pending) next = Math.min(next, at)
    return next
  }

  /** Lets time pass; timers run in their order, each at its time. */
  advance(ms: number): void {
    this.advanceTo(this.#elapsed + ms)
  }

  /** Lets time pass until this monotonic time; does nothing if it is over. */
  advanceTo(end: number): void {
    for (;;) {
      let due: { readonly at: number; readonly work: () => void } | undefined
      for (const entry of this.#pending) if (entry.at <= end && (!due || entry.at < due.at)) due = entry
      if (!due) break
      this.#pending.delete(due)
      this.#moveTo(Math.max(due.at, this.#elapsed))
      due.work()
    }
    this.#moveTo(Math.max(end, this.#elapsed))
  }

  /** Sets the wall clock forward or back; no time passes. */
  step(ms: number): void {
    this.#wall += ms
  }

  #moveTo(elapsed: number): void {
    this.#wall += Math.round(elapsed) - Math.round(this.#elapsed)
    this.#elapsed = elapsed
  }
}
