/** Decides which findings are reported now: each at most once a day, and once when it is resolved. Pure. */
import { isAlarming, reportedName, type ReportedFinding } from './report.ts'

export type NotifiedFinding = Omit<ReportedFinding, 'organizationName'>

/** Stored state of a reported finding. */
export interface Reported {
  readonly finding: NotifiedFinding
  /** Day of the last report (UTC), such as `2026-11-27`. */
  readonly day: string
  /**
   * Day of the report that the finding is resolved; absent while it persists. If the finding returns, it is reported again unless it was
   * already reported that day.
   */
  readonly overOn?: string | undefined
}

/** Findings to report now, with the rows to store. A name with an undefined row is to be deleted. */
export interface Telling {
  readonly standing: readonly NotifiedFinding[]
  readonly over: readonly NotifiedFinding[]
  readonly rows: ReadonlyMap<string, Reported | undefined>
}

/** `open`: the stored findings that are open now. */
export function toTell(open: readonly NotifiedFinding[], reported: ReadonlyMap<string, Reported>, day: string): Telling {
  const standing: NotifiedFinding[] = []
  const over: NotifiedFinding[] = []
  const rows = new Map<string, Reported | undefined>()
  const present = new Set<string>()
  for (const finding of open.filter(isAlarming)) {
    const name = reportedName(finding)
    if (present.has(name)) continue
    present.add(name)
    if (reported.get(name)?.day === day) continue
    standing.push(finding)
    rows.set(name, { finding, day })
  }
  for (const [name, row] of reported) {
    if (present.has(name)) continue
    if (row.overOn === undefined) {
      over.push(row.finding)
      rows.set(name, { ...row, overOn: day })
    } else if (row.overOn !== day) rows.set(name, undefined)
  }
  return { standing, over, rows }
}

/** Returns the day of a time, in UTC. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
