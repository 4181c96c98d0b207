/**
 * Metering of what is held and not spent, such as SMTP credentials: the most that were alive at a time in a month. A row for
 * each month in which the number changed, written with the change itself; a month without a row is as the one before ended.
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, within, type Element } from '#store/tuple.ts'

/** Axes that are counted by the most alive at a time. */
export type PeakAxis = 'sources' | 'smtp_credentials'

/** The most, how many at the end, and the day on which it became the most; the first of the month where none is noted. */
type Row = readonly [peak: number, last: number, day?: string]

export interface Peak {
  readonly most: number
  readonly day: string
}

const peakKey = (organizationId: string, axis: PeakAxis, month: string): readonly Element[] => [organizationId, 'usage.held', axis, month]

/**
 * Notes that the number alive goes from `before` to `after` with this write. Only for writes of settings, which take turns
 * (`SettingWrites`): they read what they replace.
 */
export async function recordPeakUsage(
  { database, change, organizationId }: { readonly database: Database; readonly change: Change; readonly organizationId: string },
  axis: PeakAxis,
  alive: { readonly before: number; readonly after: number },
  nowMs: number,
): Promise<void> {
  const day = new Date(nowMs).toISOString().slice(0, 10)
  const key = peakKey(organizationId, axis, day.slice(0, 7))
  const entry = await database.kv.get(pack(key))
  const [peak, , since = firstOf(day)] = entry ? decode<Row>(entry.value) : [alive.before, alive.before]
  const row: Row = alive.after > peak ? [alive.after, alive.after, day] : [peak, alive.after, since]
  change.set(key, encode(row))
}

/** The most alive at a time in a month (`2026-11`), and since when in it. */
export async function peakUsage(database: Database, organizationId: string, axis: PeakAxis, month: string): Promise<Peak> {
  const { start } = within([organizationId, 'usage.held', axis])
  const end = within(peakKey(organizationId, axis, month)).end
  for await (const { key, value } of database.kv.range({ start, end, limit: 1, reverse: true })) {
    const [peak, last, day = firstOf(month)] = decode<Row>(value)
    const isOfMonth = Buffer.compare(key, pack(peakKey(organizationId, axis, month))) === 0
    return isOfMonth ? { most: peak, day } : { most: last, day: firstOf(month) }
  }
  return { most: 0, day: firstOf(month) }
}

const firstOf = (day: string): string => `${day.slice(0, 7)}-01`
