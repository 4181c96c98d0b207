/** Rates over time. Pure. */
import { percentFrom } from '#config/watch/limits.ts'

export interface Ended {
  readonly taken: number
  readonly failed: number
  readonly bounced: number
  readonly complained: number
}

/** Returns the number of recipients that a provider accepted or rejected. */
export const endedOf = ({ taken, failed }: Pick<Ended, 'taken' | 'failed'>): number => taken + failed

/**
 * Returns the percentage at each point: of the recipients of as many latest steps as have enough recipients. Null without recipients in the
 * step, and before there are enough.
 */
export function ratesOf(points: readonly Ended[], fate: 'bounced' | 'complained'): readonly (number | null)[] {
  return points.map((point, last) => {
    if (endedOf(point) === 0) return null
    let [some, all] = [0, 0]
    for (let at = last; at >= 0 && all < percentFrom; at--) {
      const step = points[at]
      if (!step) break
      some += step[fate]
      all += endedOf(step)
    }
    return all < percentFrom ? null : (100 * some) / all
  })
}
