/**
 * Log lines without an outcome: counts by reason, and the first lines of the latest log, so that operators see the input of a log shipper.
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { SourceRef } from './ingest-source.ts'

/** `handed_on`: a delivery within the host, a discarded message, or a probe. `no_outcome`: another line of the mail server. */
export const ignoredReasons = ['handed_on', 'other_program', 'no_outcome', 'empty'] as const
export type IgnoredReason = (typeof ignoredReasons)[number]

export interface IgnoredLine {
  readonly reason: IgnoredReason
  readonly text: string
}

/** Ignored lines with the same reason. */
export interface IgnoredLines {
  readonly reason: IgnoredReason
  readonly lines: number
  /** The first lines, at most `shownLines`, each cut to `shownLength` characters. */
  readonly first: readonly string[]
}

/** Ignored lines of the last 30 days. */
export type IgnoredCount = IgnoredLines & { readonly lastAt: number }

const shownLines = 3
const shownLength = 300
const dayMs = 86_400_000
const keptDays = 30

const counterKey = ({ organizationId, sourceId }: SourceRef, reason: IgnoredReason, day: number): readonly Element[] => [
  ...[organizationId, 'counter', 'ignored', sourceId],
  ...[reason, day],
]
const firstKey = ({ organizationId, sourceId }: SourceRef, reason: IgnoredReason): readonly Element[] => [
  ...[organizationId, 'ingest.ignored', sourceId],
  reason,
]

/** Counts lines by reason, and stores the first lines of each reason. */
export class IgnoredTally {
  readonly #found = new Map<IgnoredReason, { lines: number; readonly first: string[] }>()
  #lines = 0

  /** Total number of lines. */
  get lines(): number {
    return this.#lines
  }

  add({ reason, text }: IgnoredLine): void {
    const found = this.#found.get(reason) ?? { lines: 0, first: [] }
    this.#found.set(reason, found)
    this.#lines++
    found.lines++
    if (text !== '' && found.first.length < shownLines) found.first.push(text.slice(0, shownLength).toWellFormed())
  }

  get found(): readonly IgnoredLines[] {
    return [...this.#found].map(([reason, lines]) => ({ reason, ...lines }))
  }
}

/** Adds the ignored lines of a log to the counts. */
export function noteIgnored(change: Change, source: SourceRef, found: readonly IgnoredLines[], nowMs: number): void {
  const day = Math.floor(nowMs / dayMs)
  for (const { reason, lines, first } of found) {
    const counter = counterKey(source, reason, day)
    change.add(counter, lines).expire((day + keptDays) * dayMs, counter)
    const key = firstKey(source, reason)
    change.set(key, encode({ first, lastAt: nowMs })).expire(nowMs + keptDays * dayMs, key)
  }
}

/** Deletes the stored lines of a source, which contain personal data. */
export function forgetIgnored(change: Change, source: SourceRef): void {
  for (const reason of ignoredReasons) change.delete(firstKey(source, reason))
}

/** Returns the ignored lines of the last thirty days, in the order of `ignoredReasons`. */
export async function ignoredLines(database: Database, source: SourceRef, nowMs: number): Promise<readonly IgnoredCount[]> {
  const today = Math.floor(nowMs / dayMs)
  const rows = await database.kv.getMany(ignoredReasons.map((reason) => pack(firstKey(source, reason))))
  const details = ignoredReasons.map(async (reason, i): Promise<readonly IgnoredCount[]> => {
    const row = rows[i]
    if (!row) return []
    const days = Array.from({ length: keptDays }, (_, ago) => pack(counterKey(source, reason, today - ago)))
    const lines = (await Promise.all(days.map((key) => database.kv.counter(key)))).reduce((sum, count) => sum + count, 0)
    return lines === 0 ? [] : [{ reason, lines, ...decode<Pick<IgnoredCount, 'first' | 'lastAt'>>(row.value) }]
  })
  return (await Promise.all(details)).flat()
}
