/** A clock that moves only when a test moves it. Timers follow the monotonic time; the wall clock can be set separately. */
import type { Clock, Timer } from '#core/clock.ts'

export const startOfTime = Date.UTC(2030, 0, 15, 12, 0, 0)

/** Returns the time of the machine, for comparison with packages, peers and certificates that use it. */
export const machineTime = (): number => Date.now()

export class FakeClock implements Clock {
  readonly #pending = new Set<{ readonly at: number; readonly work: () => void }>()
  /** The delays that passed automatically. */
  readonly delays: number[] = []
  readonly #selfMs: number
  #wall: number
  #elapsed = 1000

  /** Delays of up to `selfMs` pass automatically, so a dialog does not wait for them. */
  constructor(wall: number = startOfTime, selfMs = 0) {
    this.#wall = wall
    this.#selfMs = selfMs
  }

  /** Begins at the time of the machine, for clients and peers that use it. */
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

  /** The number of waiting timers. */
  get pending(): number {
    return this.#pending.size
  }

  /** Monotonic time of the next timer; `Infinity` without a timer. */
  get nextTimer(): number {
    let next = Infinity
    for (const { at } of this.#pending) next = Math.min(next, at)
    return next
  }

  /** Advances the time. Timers run in order, each at its time. */
  advance(ms: number): void {
    this.advanceTo(this.#elapsed + ms)
  }

  /** Advances to this monotonic time. Does nothing if it has passed. */
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

  /** Sets the wall clock forward or back, without advancing the time. */
  step(ms: number): void {
    this.#wall += ms
  }

  #moveTo(elapsed: number): void {
    this.#wall += Math.round(elapsed) - Math.round(this.#elapsed)
    this.#elapsed = elapsed
  }
}
