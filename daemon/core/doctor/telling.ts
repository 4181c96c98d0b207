/** Which findings are told now: each at most once a day, and once when it is over. Pure. */
import { isAlarming, nameOf, type Finding } from './finding.ts'

/** What is kept of a finding that was told. */
export interface Reported {
  /** The check that found it. */
  readonly check: string
  readonly finding: Finding
  /** The day in UTC on which it was last told, such as `2026-11-27`. */
  readonly day: string
  /** When it was told that it is over; absent while it stands. One that comes back on that day waits for the next. */
  readonly overOn?: string | undefined
}

/** What is said now, and the rows that say so; a name without a row is to be forgotten. */
export interface Telling {
  readonly standing: readonly Finding[]
  readonly over: readonly Finding[]
  readonly rows: ReadonlyMap<string, Reported | undefined>
}

/** `found`: by the checks that have looked since the start; what others told stays as it is. */
export function toTell(found: ReadonlyMap<string, readonly Finding[]>, reported: ReadonlyMap<string, Reported>, day: string): Telling {
  const standing: Finding[] = []
  const over: Finding[] = []
  const rows = new Map<string, Reported | undefined>()
  const present = new Set<string>()
  for (const [check, findings] of found)
    for (const finding of findings.filter(isAlarming)) {
      const name = nameOf(finding)
      if (present.has(name)) continue
      present.add(name)
      if (reported.get(name)?.day === day) continue
      standing.push(finding)
      rows.set(name, { check, finding, day })
    }
  for (const [name, row] of reported) {
    if (present.has(name) || !found.has(row.check)) continue
    if (row.overOn === undefined) {
      over.push(row.finding)
      rows.set(name, { ...row, overOn: day })
    } else if (row.overOn !== day) rows.set(name, undefined)
  }
  return { standing, over, rows }
}

/** The day of a moment, in UTC. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
