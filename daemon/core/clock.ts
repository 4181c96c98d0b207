/** Time as the core sees it; tests put a clock of their own in its place. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch: for times that are stored or shown. */
  now(): number
  /** Milliseconds that only grow: for durations. */
  monotonic(): number
  /** Runs `work` once after `ms` milliseconds; the timer does not keep the process alive. */
  after(ms: number, work: () => void): Timer
}

/** A pending call of `Clock.after`. */
export interface Timer {
  cancel(): void
}

/** The core of code that only needs the time. */
export interface Timed {
  readonly clock: Clock
}

const longestTimeoutMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, work) {
    const handle = setTimeout(work, Math.min(Math.max(ms, 0), longestTimeoutMs))
    handle.unref()
    return { cancel: () => clearTimeout(handle) }
  },
}

/** Daemons that share a store have the time of it, as what one writes is due at another. */
export const clockOf = (daemons: { now(): number | undefined }): Clock => ({ ...systemClock, now: () => daemons.now() ?? Date.now() })
