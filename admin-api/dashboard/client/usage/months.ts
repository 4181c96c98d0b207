/** Months in the format of the API, and the progress of the current month. */

const shownMonths = 12
const dayMs = 86_400_000

/** Returns the current month and previous ones. */
export function months(): readonly string[] {
  const now = new Date()
  return Array.from({ length: shownMonths }, (_, i) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i, 1)).toISOString().slice(0, 7),
  )
}

/** Returns the elapsed share of the month. Undefined on its first day and for a past month. */
export function elapsed({ from, until }: { readonly from: string; readonly until: string }): number | undefined {
  const [now, begin, end] = [Date.now(), Date.parse(from), Date.parse(until)]
  return now >= end || now - begin < dayMs ? undefined : (now - begin) / (end - begin)
}

/** Metrics that count current items instead of events. */
const standing: ReadonlySet<string> = new Set(['sources', 'traces_stored', 'smtp_credentials'])

/** Projects a quantity to the end of the month at the current rate. */
export const projected = (axis: string, quantity: number, part: number): number =>
  standing.has(axis) ? quantity : Math.round(quantity / part)
