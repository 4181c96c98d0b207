/**
 * Metering of held resources such as SMTP credentials: the maximum number at any time of a month. Each month with a change has a row,
 * written with the change itself. A month without a row has the last number of the previous month.
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, within, type Element } from '#store/tuple.ts'
import type { ByProject, Held } from './by-project.ts'

/** Axes that are billed by their maximum. */
export type PeakAxis = 'sources' | 'smtp_credentials'

/**
 * The maximum, the last number, the day of the maximum (the first of the month if absent), and the projects of both. Rows of releases
 * without projects lack the projects.
 */
type Row = readonly [peak: number, last: number, day?: string, peakProjects?: ByProject, lastProjects?: ByProject]

export interface Peak {
  readonly most: Held
  readonly day: string
}

const peakKey = (organizationId: string, axis: PeakAxis, month: string): readonly Element[] => [organizationId, 'usage.held', axis, month]

/**
 * Records that the number or its projects change from `before` to `after` in this write. Only for writes of settings, which are serialized
 * (`SettingWrites`), because it reads the row that it replaces.
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

/** Returns the maximum of a month (`2026-11`), and the day on which it was reached. */
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
