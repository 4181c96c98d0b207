/**
 * Metering of what is held and not spent, such as SMTP credentials: the most that were alive at a time in a month. A row for
 * each month in which the number changed, written with the change itself; a month without a row is as the one before ended.
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, within, type Element } from '#store/tuple.ts'

/** Axes that are counted by the most alive at a time. */
export type PeakAxis = 'sources' | 'smtp_credentials'

/** The most, and how many at the end. */
type Row = readonly [peak: number, last: number]

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
  const key = peakKey(organizationId, axis, new Date(nowMs).toISOString().slice(0, 7))
  const entry = await database.kv.get(pack(key))
  const peak = entry ? decode<Row>(entry.value)[0] : alive.before
  const row: Row = [Math.max(peak, alive.after), alive.after]
  change.set(key, encode(row))
}

/** The most alive at a time in a month (`2026-11`). */
export async function peakUsage(database: Database, organizationId: string, axis: PeakAxis, month: string): Promise<number> {
  const { start } = within([organizationId, 'usage.held', axis])
  const end = within(peakKey(organizationId, axis, month)).end
  for await (const { key, value } of database.kv.range({ start, end, limit: 1, reverse: true })) {
    const [peak, last] = decode<Row>(value)
    return Buffer.compare(key, pack(peakKey(organizationId, axis, month))) === 0 ? peak : last
  }
  return 0
}
