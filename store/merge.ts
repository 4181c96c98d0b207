/** Lists that combine several ranges in a common order. A cursor is a place in this order. */
import { cursorAt, CursorInvalid, keyAfter, keyAt } from './cursor.ts'
import type { Database, Page, Sieve, Visibility } from './database.ts'
import type { Bytes, Entry } from './kv.ts'
import type { Identified, RecordKind, Stored } from './record-kind.ts'
import { pack, unpack, within, type Element } from './tuple.ts'

/** A range of a combined list. */
export interface Source<R> {
  /** Prefix of all its keys. */
  readonly prefix: readonly Element[]
  /** True if the rows are index rows, false if they are records. */
  readonly isIndex: boolean
  /** Returns the place of a row in the common order, from the elements after the prefix. Places are unique. */
  readonly placeOf: (rest: readonly Element[]) => readonly Element[]
  /** Returns the elements after the prefix for a place. */
  readonly restAt: (place: readonly Element[]) => readonly Element[]
  /** Returns true if another source has this record. */
  readonly skips?: (record: R) => boolean
}

export interface Merge<R> {
  readonly sources: readonly Source<R>[]
  /** Smallest (oldest) first; by default, largest first. */
  readonly ascending?: boolean
  /** Starts after this place. */
  readonly from?: readonly Element[] | undefined
  /** Expected number of records, if known. */
  readonly expected: number
}

/** A row. `stored` is undefined if the record is inaccessible or belongs to another source. */
interface Merged<R> {
  readonly place: readonly Element[]
  readonly stored: Stored<R> | undefined
}

/** Largest number of rows of a source that are read at once. */
const maxStep = 128

class Run<R extends Identified> {
  readonly source: Source<R>
  readonly #range: { start: Bytes; end: Bytes; readonly reverse: boolean }
  #step: number
  #rows: readonly Merged<R>[] = []
  #at = 0
  #isOver = false
  /** Key of the next row. */
  head: Bytes | undefined

  constructor(source: Source<R>, { from, ascending = false }: Merge<R>, step: number) {
    this.source = source
    const { start, end } = within(source.prefix)
    const border = from && pack([...source.prefix, ...source.restAt(from)])
    this.#range = { start: ascending && border ? keyAfter(border) : start, end: (!ascending && border) || end, reverse: !ascending }
    this.#step = step
  }

  /** Reads the next row. */
  async advance(database: Database, kind: RecordKind<R>, reach: Visibility): Promise<void> {
    if (this.#at === this.#rows.length && !this.#isOver) await this.#read(database, kind, reach)
    const next = this.#rows[this.#at]
    this.head = next && pack(next.place)
  }

  take(): Merged<R> | undefined {
    return this.#rows[this.#at++]
  }

  async #read(database: Database, kind: RecordKind<R>, reach: Visibility): Promise<void> {
    const entries: Entry[] = []
    for await (const entry of database.kv.range({ ...this.#range, limit: this.#step, whole: 'shown' })) entries.push(entry)
    this.#isOver = entries.length < this.#step
    this.#step = Math.min(2 * this.#step, maxStep)
    const last = entries.at(-1)?.key
    if (last && this.#range.reverse) this.#range.end = last
    else if (last) this.#range.start = keyAfter(last)
    const { prefix, isIndex, placeOf, skips } = this.source
    const records = await database.recordsOf(kind, reach, entries, isIndex)
    this.#rows = entries.map(({ key }, i) => {
      const stored = records[i]
      return { place: placeOf(unpack(key).slice(prefix.length)), stored: stored && skips?.(stored.record) ? undefined : stored }
    })
    this.#at = 0
  }
}

/** Yields the rows of all sources in the common order. */
export async function* merged<R extends Identified>(
  database: Database,
  kind: RecordKind<R>,
  reach: Visibility,
  merge: Merge<R>,
): AsyncGenerator<Merged<R>> {
  const step = Math.min(Math.max(Math.ceil(merge.expected / Math.max(merge.sources.length, 1)), 1), maxStep)
  const runs = merge.sources.map((source) => new Run(source, merge, step))
  await Promise.all(runs.map((run) => run.advance(database, kind, reach)))
  const sign = merge.ascending ? -1 : 1
  for (;;) {
    let first: Run<R> | undefined
    for (const run of runs) if (run.head && (!first?.head || Buffer.compare(run.head, first.head) * sign > 0)) first = run
    const row = first?.take()
    if (!row) return
    yield row
    await first?.advance(database, kind, reach)
  }
}

export interface MergedPage<R> extends Omit<Merge<R>, 'expected'> {
  readonly name: readonly Element[]
  readonly limit: number
  readonly cursor?: string | undefined
  /** Returns whether a place is valid: cursors can be invented. */
  readonly isPlace: (place: readonly Element[]) => boolean
}

/**
 * Returns one page. `name` binds the cursors to one list. Rows that are inaccessible, or that the sieve passes, are skipped. The cursor
 * follows the last row that was read. Throws `CursorInvalid`.
 */
export async function mergedPage<R extends Identified>(
  database: Database,
  kind: RecordKind<R>,
  reach: Visibility,
  { name, limit, cursor, isPlace, ...merge }: MergedPage<R>,
  sieve?: Sieve<R>,
): Promise<Page<Stored<R>>> {
  const list = [reach.organizationId, kind.name, ...name]
  const rows: Stored<R>[] = []
  const from = cursor === undefined ? merge.from : unpack(keyAt(list, cursor)).slice(list.length)
  if (cursor !== undefined && from && !isPlace(from)) throw new CursorInvalid()
  if (limit === 0) return { rows, nextCursor: undefined }
  const { maxLooks = Infinity } = sieve ?? {}
  let looks = 0
  let last: readonly Element[] | undefined
  for await (const { place, stored } of merged(database, kind, reach, { ...merge, from, expected: limit })) {
    if (last) return { rows, nextCursor: cursorAt(list, pack([...list, ...last])) }
    looks++
    const fate = stored ? (sieve?.sort(stored.record) ?? 'take') : 'pass'
    if (fate === 'end') break
    if (stored && fate === 'take') rows.push(stored)
    if (rows.length === limit || looks === maxLooks) last = place
  }
  return { rows, nextCursor: undefined }
}
