/** Rows of counts as they are read. */
import { decode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Range } from '#store/kv.ts'
import { addCounts, decodeCounts, type Counts } from '#store/tally.ts'
import { pack, unpack } from '#store/tuple.ts'
import type { Place } from './count.ts'
import { countsPrefix, rolledKey, type Level } from './levels.ts'

export interface Span {
  readonly from: number
  /** Not included. */
  readonly to: number
}

interface CountsRow {
  readonly at: number
  readonly subject: string
  readonly counts: Counts
}

/** The rows of a level in a span, in order of time. */
export async function* rowsOf(
  database: Database,
  level: Level,
  { organizationId, projectId }: Place,
  { from, to }: Span,
  isMeant: (subject: string) => boolean = () => true,
  whole: NonNullable<Range['whole']> = false,
): AsyncGenerator<CountsRow> {
  if (from >= to) return
  const prefix = countsPrefix(level, organizationId, projectId)
  for await (const { key, value } of database.kv.range({ start: pack([...prefix, from]), end: pack([...prefix, to]), whole })) {
    const [, , , at, subject] = unpack(key)
    if (isMeant(String(subject))) yield { at: Number(at), subject: String(subject), counts: decodeCounts(value) }
  }
}

/** Counts by time and by what they are counted for. */
export type Sums = Map<number, Map<string, Counts>>

export function addRow(sums: Sums, at: number, subject: string, counts: Counts): void {
  let bySubject = sums.get(at)
  if (!bySubject) sums.set(at, (bySubject = new Map()))
  const sum = bySubject.get(subject)
  if (sum) addCounts(sum, counts)
  else bySubject.set(subject, new Map(counts))
}

/** Up to when each level but the first is complete, by its name. */
export type RolledTo = ReadonlyMap<string, number>

/** Nothing before the first round. */
export async function rolledTo(database: Database): Promise<RolledTo> {
  const entry = await database.kv.get(pack(rolledKey))
  return new Map(entry ? decode<[string, number][]>(entry.value) : [])
}
