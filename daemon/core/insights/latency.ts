/** Stores durations as counts in buckets. Upper bounds grow by 50%, from 4 ms to 42 hours. */
const steps = 44
const growth = 1.5
const bounds: readonly number[] = Array.from({ length: steps }, (_, at) => Math.round(4 * growth ** at))

/**
 * Measured times:
 * - `first_attempt`: from acceptance to the first attempt
 * - `attempt`: from the start of an attempt to its final 250 reply
 * - `delivery`: from acceptance to that reply
 */
export const timings = ['first_attempt', 'attempt', 'delivery'] as const
export type Timing = (typeof timings)[number]

const letters = { first_attempt: 'w', attempt: 't', delivery: 'y' } as const
/** Precomputed names of the buckets. */
const names = Object.fromEntries(timings.map((timing) => [timing, bounds.map((_, at) => letters[timing] + at.toString(36))]))

/** Returns the count name of a duration. */
export function timingName(timing: Timing, milliseconds: number): string {
  const at = milliseconds <= 4 ? 0 : Math.ceil(Math.log(milliseconds / 4) / Math.log(growth) - 0.01)
  return names[timing]?.[Math.min(at, steps - 1)] ?? ''
}

export interface Percentiles {
  readonly count: number
  /** Milliseconds, at most 50% too high; null without measurements. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly p99Ms: number | null
}

export function percentilesOf(timing: Timing, counts: ReadonlyMap<string, number>): Percentiles {
  const histogram = (names[timing] ?? []).map((name) => counts.get(name) ?? 0)
  const count = histogram.reduce((sum, some) => sum + some, 0)
  const at = (share: number): number | null => {
    if (count === 0) return null
    let left = Math.ceil(count * share)
    return bounds[histogram.findIndex((some) => (left -= some) <= 0)] ?? null
  }
  return { count, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) }
}
