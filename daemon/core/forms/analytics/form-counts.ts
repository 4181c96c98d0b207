/**
 * Counts activity of a form in one row per UTC day, in the writes that cause it. Reports read these rows and no submissions. Fill times are
 * counted in buckets whose upper bounds grow by 25%.
 */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { addCounts, decodeCounts, type Counts } from '#store/tally.ts'
import { pack, unpack, within, type Element } from '#store/tuple.ts'

/** Count names. `page` is followed by the page number, `fill` by the bucket. */
export const formNames = { views: 'v', starts: 's', submissions: 'u', spam: 'x', page: 'p', fill: 'f' } as const

export const dayMs = 86_400_000
export const dayOfMs = (ms: number): number => ms - (ms % dayMs)

/** See `integrity.ts`. */
export const formDayRows = 'form.day'

const rowsOfForm = (organizationId: string, formId: string): readonly Element[] => [organizationId, formDayRows, formId]

export function countInForm(
  change: Change,
  { organizationId, formId }: { readonly organizationId: string; readonly formId: string },
  names: readonly string[],
  nowMs: number,
  delta = 1,
): void {
  if (names.length > 0) change.tally({ key: pack([...rowsOfForm(organizationId, formId), dayOfMs(nowMs)]), names, delta })
}

/** Returns the counts of each day with activity from the first day to before `to`. */
export async function formDays(
  { kv }: Pick<Database, 'kv'>,
  organizationId: string,
  formId: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ReadonlyMap<number, Counts>> {
  const rows = rowsOfForm(organizationId, formId)
  const days = new Map<number, Counts>()
  for await (const { key, value } of kv.range({ start: pack([...rows, dayOfMs(from)]), end: pack([...rows, to]), whole: 'shown' }))
    days.set(Number(unpack(key).at(-1)), decodeCounts(value))
  return days
}

/** Returns keys of rows of a deleted form, at most `limit`. */
export async function leftFormDays(
  { kv }: Pick<Database, 'kv'>,
  organizationId: string,
  formId: string,
  limit: number,
): Promise<readonly Uint8Array[]> {
  const keys: Uint8Array[] = []
  for await (const { key } of kv.range({ ...within(rowsOfForm(organizationId, formId)), limit })) keys.push(key)
  return keys
}

export function sumOf(days: ReadonlyMap<number, Counts>): Counts {
  const sum: Counts = new Map()
  for (const counts of days.values()) addCounts(sum, counts)
  return sum
}

/** Checks a row for `postern verify`. */
export async function checkFormDay([, , , at]: readonly Element[], value: Uint8Array): Promise<string[]> {
  if (typeof at !== 'number' || at % dayMs !== 0) return ['it is of no day']
  try {
    decodeCounts(value)
    return []
  } catch {
    return ['it holds no counts']
  }
}

const growth = 1.25
const steps = 52
/** Upper bounds of the buckets, from one second to more than the maximum fill time of a day. */
const bounds: readonly number[] = Array.from({ length: steps }, (_, at) => Math.round(1000 * growth ** at))

export function fillName(milliseconds: number): string {
  const at = bounds.findIndex((bound) => milliseconds <= bound)
  return formNames.fill + (at === -1 ? steps - 1 : at).toString(36)
}

/** Returns the median fill time in milliseconds, at most 25% too high; null without measurements. */
export function medianFillMs(counts: ReadonlyMap<string, number>): number | null {
  const histogram = bounds.map((_, at) => counts.get(formNames.fill + at.toString(36)) ?? 0)
  let left = Math.ceil(histogram.reduce((sum, some) => sum + some, 0) / 2)
  if (left === 0) return null
  return bounds[histogram.findIndex((some) => (left -= some) <= 0)] ?? null
}
