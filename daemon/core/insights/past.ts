/**
 * Counts in the time of an earlier event, such as a bounce in the minute in which its message was accepted. Levels that are rolled up for
 * that time are counted too, because a roll-up does not repeat.
 */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack } from '#store/tuple.ts'
import { countsKey, levels, maxDomains, ofDomains, rolledKey, wholeOrganization, type Level, type Place } from './levels.ts'
import { begunOf, decodeRolled, type RolledTo } from './rows.ts'

/** A time for counts, and the levels that lack later counts of it. */
export interface CountTime {
  readonly at: number
  /** Empty for the present. */
  readonly levels: readonly Level[]
}

const [minutes, quarters] = levels
/** A time within this period is never rolled up; see `roll-up.ts`. */
const recentMs = minutes.ms

/**
 * Returns the time for counts of an event that happened at `at`. The write then fails if a roll-up begins before it. While a roll-up of
 * that time runs, the counts go to its end.
 */
export async function countTimeOf(database: Database, change: Change, at: number, nowMs: number): Promise<CountTime> {
  const recent = nowMs - recentMs
  if (at >= recent - (recent % quarters.ms)) return { at: Math.min(at, nowMs), levels: [] }
  const entry = await database.kv.get(pack(rolledKey))
  if (!entry) return { at, levels: [] }
  change.check(rolledKey, entry.version)
  return placed(decodeRolled(entry.value), at, nowMs)
}

/** Pure. */
function placed(rolled: RolledTo, at: number, nowMs: number): CountTime {
  let free = at
  for (const { name } of levels.toReversed())
    if (free >= (rolled.get(name) ?? Infinity)) free = Math.max(free, rolled.get(begunOf(name)) ?? 0)
  const complete = levels.slice(1).filter(({ name }) => free < (rolled.get(name) ?? 0))
  const kept = [minutes, ...complete].filter(({ keepMs }, i) => (i === 0 && complete.length === 0) || free > nowMs - keepMs)
  return { at: free, levels: kept }
}

/** Counts in the rows of all levels of the time, for the project and the whole organization. */
export function countPast(
  change: Change,
  { organizationId, projectId }: Place,
  subject: string,
  names: readonly string[],
  { at, levels: all }: CountTime,
): void {
  for (const level of all)
    for (const place of level === minutes ? [projectId] : [projectId, wholeOrganization]) {
      const key = pack(countsKey(level, organizationId, place, at - (at % level.ms), subject))
      const maxSubjects = level === minutes ? maxDomains.minute : maxDomains.later
      change.tally({ key, names, ...(subject === ofDomains && { maxSubjects }) })
    }
}
