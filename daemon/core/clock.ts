/** Time for the core; tests replace it with a fake clock. */
export interface Clock {
  /** Wall clock in milliseconds since the epoch: for stored and displayed times. */
  now(): number
  /** Milliseconds that never decrease: for durations. */
  monotonic(): number
  /** Runs `work` once after `ms` milliseconds; the timer does not keep the process alive. */
  after(ms: number, work: () => void): Timer
}

/** A pending call of `Clock.after`. */
export interface Timer {
  cancel(): void
}

/** Dependencies of code that only needs the time. */
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

/** Returns the clock of a shared store, because entries that one daemon writes become due in another. */
export const clockOf = (daemons: { now(): number | undefined }): Clock => ({ ...systemClock, now: () => daemons.now() ?? Date.now() })
