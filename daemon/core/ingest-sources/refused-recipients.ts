/** Refusals that a log tells of, counted by day: they are no bounces, as those come by themselves. */
import { hash } from 'node:crypto'
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, within, type Element } from '#store/tuple.ts'

/** Refusals of one kind. */
export interface RefusalCount {
  readonly postoffice: string | null
  readonly direction: 'in' | 'out'
  readonly codeClass: 4 | 5
  readonly peer: string
  readonly count: number
}

interface Place {
  readonly organizationId: string
  readonly sourceId: string
}

const dayMs = 86_400_000
const keptMs = 30 * dayMs
/** Kinds that are told apart in a day; peers are many, and those beyond are not counted. */
const kindsMax = 500

const dayKey = ({ organizationId, sourceId }: Place, day: number): readonly Element[] => [organizationId, 'ingest.refused', sourceId, day]
const batchKey = ({ organizationId, sourceId }: Place, body: Uint8Array): readonly Element[] => [
  organizationId,
  'feedback.key',
  sourceId,
  `batch:${hash('sha256', body)}`,
]

const kindOf = ({ postoffice, direction, codeClass, peer }: RefusalCount): string =>
  JSON.stringify([postoffice, direction, codeClass, peer])

/** Adds refusals to those of the day; undefined for a batch that was counted before. The caller sees to it that nobody else does at the same time. */
export async function refusalCounter(
  database: Database,
  place: Place,
  body: Uint8Array,
  nowMs: number,
): Promise<((change: Change, refusals: readonly RefusalCount[]) => void) | undefined> {
  const batch = batchKey(place, body)
  const day = dayKey(place, Math.floor(nowMs / dayMs))
  const [counted, today] = await database.kv.getMany([pack(batch), pack(day)])
  if (counted) return undefined
  return (change, refusals) => {
    const counts = new Map((today ? decode<readonly RefusalCount[]>(today.value) : []).map((one) => [kindOf(one), one]))
    for (const refusal of refusals) {
      const before = counts.get(kindOf(refusal))
      if (before || counts.size < kindsMax) counts.set(kindOf(refusal), { ...refusal, count: refusal.count + (before?.count ?? 0) })
    }
    change.set(batch, encode(null)).expire(nowMs + keptMs, batch)
    change.set(day, encode([...counts.values()])).expire(nowMs + keptMs, day)
  }
}

/** Of the last thirty days, the most frequent first. */
export async function refusedRecipients(database: Database, place: Place): Promise<readonly RefusalCount[]> {
  const counts = new Map<string, RefusalCount>()
  for await (const { value } of database.kv.range(within([place.organizationId, 'ingest.refused', place.sourceId]))) {
    for (const one of decode<readonly RefusalCount[]>(value))
      counts.set(kindOf(one), { ...one, count: one.count + (counts.get(kindOf(one))?.count ?? 0) })
  }
  return [...counts.values()].toSorted((a, b) => b.count - a.count)
}
