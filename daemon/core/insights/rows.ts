/** Reads rows of counts. */
import { decode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Bytes, Range } from '#store/kv.ts'
import { addCounts, decodeCounts, type Counts } from '#store/tally.ts'
import { pack, unpack } from '#store/tuple.ts'
import { countsPrefix, levels, rolledKey, type Level, type Place } from './levels.ts'

export interface Span {
  readonly from: number
  /** Exclusive. */
  readonly to: number
}

interface CountsRow {
  readonly at: number
  readonly subject: string
  readonly counts: Counts
}

/** Reads the rows of a level in a period, in order of time. */
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

/** Counts by time and subject. */
export type Sums = Map<number, Map<string, Counts>>

export function addRow(sums: Sums, at: number, subject: string, counts: Counts): void {
  let bySubject = sums.get(at)
  if (!bySubject) sums.set(at, (bySubject = new Map()))
  const sum = bySubject.get(subject)
  if (sum) addCounts(sum, counts)
  else bySubject.set(subject, new Map(counts))
}

/** Completion times of all levels except the first, by name. */
export type RolledTo = ReadonlyMap<string, number>

/** Returns an empty map if no round has finished yet. */
export async function rolledTo(database: Database): Promise<RolledTo> {
  const entry = await database.kv.get(pack(rolledKey))
  return entry ? decodeRolled(entry.value) : new Map()
}

export const decodeRolled = (value: Bytes): RolledTo => new Map(decode<[string, number][]>(value))

/** Name of the time up to which the running roll-up of a level goes, among the completion times. */
export const begunOf = (level: string): string => `begun ${level}`

/** Splits the period: each level covers its complete part, and finer levels the rest. */
export function partsOf(level: Level, { from, to }: Span, rolled: RolledTo): readonly (Span & { readonly level: Level })[] {
  const parts: (Span & { readonly level: Level })[] = []
  let at = from
  for (const one of levels.slice(0, levels.findIndex(({ name }) => name === level.name) + 1).toReversed()) {
    const end = Math.min(to, one === levels[0] ? to : (rolled.get(one.name) ?? 0))
    if (end > at) parts.push({ level: one, from: at, to: end })
    at = Math.max(at, end)
  }
  return parts
}
