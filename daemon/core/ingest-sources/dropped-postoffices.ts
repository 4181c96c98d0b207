/** Counts dropped events of postoffices without a mapping, by postoffice name, so that operators see missing mappings. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { unpack, within, type Element } from '#store/tuple.ts'

/** Counts of a postoffice without a mapping. */
export interface DroppedPostoffice {
  /** The most recent spelling. */
  readonly postoffice: string
  readonly events: number
  readonly lastAt: number
}

/** Maximum number of names, because the reporter chooses them. Events of further names are dropped without a count. */
const maxNames = 200
/** Retention of a count after its last event. */
const keptMs = 30 * 86_400_000

/** Key of a count; `folded` is the result of `foldPostoffice`. */
export const droppedKey = (organizationId: string, sourceId: string, folded: string): readonly Element[] => [
  organizationId,
  'ingest.dropped',
  sourceId,
  folded,
]

/** Returns the counts by folded name. */
export async function droppedPostoffices(
  database: Database,
  organizationId: string,
  sourceId: string,
): Promise<ReadonlyMap<string, DroppedPostoffice>> {
  const found = new Map<string, DroppedPostoffice>()
  for await (const { key, value } of database.kv.range({ ...within([organizationId, 'ingest.dropped', sourceId]), whole: true }))
    found.set(String(unpack(key)[3]), decode<DroppedPostoffice>(value))
  return found
}

/** Adds events to the counts in `before`. `postoffices` has the spelling and the number of events by folded name. */
export function countDropped(
  change: Change,
  place: { readonly organizationId: string; readonly sourceId: string },
  before: ReadonlyMap<string, DroppedPostoffice>,
  postoffices: ReadonlyMap<string, { readonly postoffice: string; readonly events: number }>,
  nowMs: number,
): void {
  let room = maxNames - before.size
  for (const [folded, { postoffice, events }] of postoffices) {
    const known = before.get(folded)
    if (!known && room-- <= 0) continue
    const key = droppedKey(place.organizationId, place.sourceId, folded)
    const row: DroppedPostoffice = { postoffice, events: (known?.events ?? 0) + events, lastAt: nowMs }
    change.set(key, encode(row)).expire(nowMs + keptMs, key)
  }
}
