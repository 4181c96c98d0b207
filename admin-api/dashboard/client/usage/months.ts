/** Months as the API names them, and how far the present one is. */

const shownMonths = 12
const dayMs = 86_400_000

/** This month and those before it. */
export function months(): readonly string[] {
  const now = new Date()
  return Array.from({ length: shownMonths }, (_, i) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i, 1)).toISOString().slice(0, 7),
  )
}

/** The part of the month that is over; undefined before its first day is, and for a month that is over. */
export function elapsed({ from, until }: { readonly from: string; readonly until: string }): number | undefined {
  const [now, begin, end] = [Date.now(), Date.parse(from), Date.parse(until)]
  return now >= end || now - begin < dayMs ? undefined : (now - begin) / (end - begin)
}

/** These count what there is at a time, and not what happens. */
const standing: ReadonlySet<string> = new Set(['sources', 'traces_stored', 'smtp_credentials'])

/** How much it will be by the end of the month at the pace so far. */
export const projected = (axis: string, quantity: number, part: number): number =>
  standing.has(axis) ? quantity : Math.round(quantity / part)
