/** Counts refusals in logs by day. They do not count as bounces, which are reported separately. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, within, type Element } from '#store/tuple.ts'
import type { SourceRef } from './ingest-source.ts'

/** Number of refusals of one kind. */
export interface RefusalCount {
  readonly postoffice: string | null
  readonly direction: 'in' | 'out'
  readonly codeClass: 4 | 5
  readonly peer: string
  readonly count: number
}

/** One refusal; `key` is equal for repetitions of a log line in any batch. */
export type RefusedLine = Omit<RefusalCount, 'count'> & { readonly key: string }

const dayMs = 86_400_000
const keptMs = 30 * dayMs
/** Period in which an agent can read lines again. */
const rememberedMs = 7 * dayMs
/** Maximum number of kinds per day, because peers are many. Further kinds are not counted. */
const maxKinds = 500

const dayKey = ({ organizationId, sourceId }: SourceRef, day: number): readonly Element[] => [
  organizationId,
  'ingest.refused',
  sourceId,
  day,
]
const lineKey = ({ organizationId, sourceId }: SourceRef, key: string): readonly Element[] => [
  organizationId,
  'feedback.key',
  sourceId,
  key,
]

const kindOf = ({ postoffice, direction, codeClass, peer }: Omit<RefusalCount, 'count'>): string =>
  JSON.stringify([postoffice, direction, codeClass, peer])

/** Refusals that were not counted before; `add` adds them to the counts of the day. */
export interface NewRefusals {
  readonly count: number
  readonly add: (change: Change) => void
}

/** The caller must serialize calls for the same source. */
export async function newRefusals(
  database: Database,
  source: SourceRef,
  lines: readonly RefusedLine[],
  nowMs: number,
): Promise<NewRefusals> {
  const day = dayKey(source, Math.floor(nowMs / dayMs))
  const byKey = [...new Map(lines.map((line) => [line.key, line])).values()]
  const [today, ...known] = await database.kv.getMany([day, ...byKey.map(({ key }) => lineKey(source, key))].map(pack))
  const fresh = byKey.filter((_, i) => known[i] === undefined)
  const add = (change: Change): void => {
    if (fresh.length === 0) return
    const counts = new Map((today ? decode<readonly RefusalCount[]>(today.value) : []).map((one) => [kindOf(one), one]))
    for (const { key, ...kind } of fresh) {
      const row = lineKey(source, key)
      change.set(row, encode(null)).expire(nowMs + rememberedMs, row)
      const before = counts.get(kindOf(kind))
      if (before || counts.size < maxKinds) counts.set(kindOf(kind), { ...kind, count: (before?.count ?? 0) + 1 })
    }
    change.set(day, encode([...counts.values()])).expire(nowMs + keptMs, day)
  }
  return { count: fresh.length, add }
}

/** Returns the counts of the last 30 days, most frequent first. */
export async function refusedRecipients(database: Database, source: SourceRef): Promise<readonly RefusalCount[]> {
  const counts = new Map<string, RefusalCount>()
  for await (const { value } of database.kv.range({ ...within([source.organizationId, 'ingest.refused', source.sourceId]), whole: true })) {
    for (const one of decode<readonly RefusalCount[]>(value))
      counts.set(kindOf(one), { ...one, count: one.count + (counts.get(kindOf(one))?.count ?? 0) })
  }
  return [...counts.values()].toSorted((a, b) => b.count - a.count)
}
