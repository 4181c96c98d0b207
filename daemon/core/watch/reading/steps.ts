/** Counts of one project in the last day: minutes of the last quarter of an hour, quarters of the last hour, and hours before it. */
import type { Database } from '#store/database.ts'
import { addCounts, type Counts } from '#store/tally.ts'
import type { Place } from '../../insights/count.ts'
import { levels } from '../../insights/levels.ts'
import { partsOf, rowsOf, type RolledTo } from '../../insights/rows.ts'

/** Counts of one subject in one step. Steps of different lengths do not overlap. */
export interface Step {
  readonly from: number
  readonly subject: string
  readonly counts: Counts
}

export type StepsBySubject = ReadonlyMap<string, readonly Step[]>

/** Groups the steps once, so that a look at many subjects is linear. */
export const bySubject = (steps: readonly Step[]): StepsBySubject => Map.groupBy(steps, ({ subject }) => subject)

/** Starts of the periods that conditions use, rounded down to steps. */
export interface Periods {
  readonly day: number
  readonly hour: number
  readonly quarter: number
}

const [minutes, quarters, hours] = levels

export const periodsAt = (now: number): Periods => ({
  day: floor(now - 24 * hours.ms, hours.ms),
  hour: floor(now - hours.ms, quarters.ms),
  quarter: floor(now - quarters.ms, minutes.ms),
})

const floor = (at: number, ms: number): number => at - (at % ms)

/** Reads the steps in order of time. */
export async function readSteps(
  database: Database,
  place: Place,
  { day, hour, quarter }: Periods,
  now: number,
  rolled: RolledTo,
): Promise<readonly Step[]> {
  const steps: Step[] = []
  const parts = [
    ...partsOf(hours, { from: day, to: hour }, rolled),
    ...partsOf(quarters, { from: hour, to: floor(quarter, quarters.ms) }, rolled),
    { level: minutes, from: floor(quarter, quarters.ms), to: now + 1 },
  ]
  for (const { level, ...span } of parts)
    for await (const { at, subject, counts } of rowsOf(database, level, place, span, isWatched, 'shown'))
      steps.push({ from: at, subject, counts })
  return steps
}

/** Subjects with conditions: the project itself and what has its own counts, except templates, publishable keys and recipient domains. */
const isWatched = (subject: string): boolean => !/^(?:tpl_|pk_|@)/.test(subject)

/** Adds up the counts of subjects since a time. */
export function sumOf(steps: readonly Step[], since: number, isMeant: (subject: string) => boolean): Counts {
  const sum: Counts = new Map()
  for (const { from, subject, counts } of steps) if (from >= since && isMeant(subject)) addCounts(sum, counts)
  return sum
}
