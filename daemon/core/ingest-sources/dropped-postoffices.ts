/** What was dropped because its postoffice has no mapping: counted by the name of the postoffice, so that missing mappings are seen. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { unpack, within, type Element } from '#store/tuple.ts'

/** As much as was seen of a postoffice without a mapping. */
export interface DroppedPostoffice {
  /** As it was written last. */
  readonly postoffice: string
  readonly events: number
  readonly lastAt: number
}

/** Names are given by whoever posts; more of them are dropped without being counted. */
const maxNames = 200
/** A postoffice without reports for so long is forgotten. */
const keptMs = 30 * 86_400_000

/** `folded` as `foldPostoffice` makes it. */
export const droppedKey = (organizationId: string, sourceId: string, folded: string): readonly Element[] => [
  organizationId,
  'ingest.dropped',
  sourceId,
  folded,
]

/** By folded name. */
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

/** Adds to the counts, as they were read; `postoffices` by folded name, each with its spelling and how many events it had. */
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
