/**
 * Metering of what is held and not spent, such as SMTP credentials: the most that were alive at a time in a month. A row for
 * each month in which the number changed, written with the change itself; a month without a row is as the one before ended.
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, within, type Element } from '#store/tuple.ts'
import type { ByProject, Held } from './by-project.ts'

/** Axes that are counted by the most alive at a time. */
export type PeakAxis = 'sources' | 'smtp_credentials'

/**
 * The most, how many at the end, the day on which it became the most (the first of the month where none is noted), and the projects of
 * both, which are missing in rows of releases that did not count by project.
 */
type Row = readonly [peak: number, last: number, day?: string, peakProjects?: ByProject, lastProjects?: ByProject]

export interface Peak {
  readonly most: Held
  readonly day: string
}

const peakKey = (organizationId: string, axis: PeakAxis, month: string): readonly Element[] => [organizationId, 'usage.held', axis, month]

/**
 * Notes that what is alive goes from `before` to `after` with this write, in number or in projects. Only for writes of settings, which
 * take turns (`SettingWrites`): they read what they replace.
 */
export async function recordPeakUsage(
  { database, change, organizationId }: { readonly database: Database; readonly change: Change; readonly organizationId: string },
  axis: PeakAxis,
  { before, after }: { readonly before: Held; readonly after: Held },
  nowMs: number,
): Promise<void> {
  const day = new Date(nowMs).toISOString().slice(0, 10)
  const key = peakKey(organizationId, axis, day.slice(0, 7))
  const entry = await database.kv.get(pack(key))
  const [peak, , since = firstOf(day), projects = []] = entry
    ? decode<Row>(entry.value)
    : ([before.count, before.count, undefined, before.projects] as const)
  const row: Row =
    after.count > peak
      ? [after.count, after.count, day, after.projects, after.projects]
      : [peak, after.count, since, projects, after.projects]
  change.set(key, encode(row))
}

/** The most alive at a time in a month (`2026-11`), and since when in it. */
export async function peakUsage(database: Database, organizationId: string, axis: PeakAxis, month: string): Promise<Peak> {
  const { start } = within([organizationId, 'usage.held', axis])
  const end = within(peakKey(organizationId, axis, month)).end
  for await (const { key, value } of database.kv.range({ start, end, limit: 1, reverse: true, whole: true })) {
    const [peak, last, day = firstOf(month), peakProjects = [], lastProjects = []] = decode<Row>(value)
    const isOfMonth = Buffer.compare(key, pack(peakKey(organizationId, axis, month))) === 0
    if (isOfMonth) return { most: { count: peak, projects: peakProjects }, day }
    return { most: { count: last, projects: lastProjects }, day: firstOf(month) }
  }
  return { most: { count: 0, projects: [] }, day: firstOf(month) }
}

const firstOf = (day: string): string => `${day.slice(0, 7)}-01`
