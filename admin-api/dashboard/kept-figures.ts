/** Periods of figures on the start screen, shared by the service and the screen, so that the page can contain the answers. */

const dayMs = 86_400_000
/** Retention of the figures, without the current step. */
const keptDays = 700

/** Midnight UTC, this number of days ago. */
const daysAgo = (now: number, days: number): string => new Date(now - (now % dayMs) - days * dayMs).toISOString()

/** Query of all figures that the service keeps, in the longest steps. */
export const everKept = (now: number): { readonly from: string; readonly step_seconds: number } => ({
  from: daysAgo(now, keptDays),
  step_seconds: (31 * dayMs) / 1000,
})

/** Query of the figures of the last week by day. */
export const lastWeek = (now: number): { readonly from: string; readonly step_seconds: number } => ({
  from: daysAgo(now, 7),
  step_seconds: dayMs / 1000,
})
