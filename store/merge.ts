/** Lists that are put together from several ranges of one kind, each in the same order: a cursor stands on a place in that order. */
import { cursorAt, CursorInvalid, keyAfter, keyAt } from './cursor.ts'
import type { Database, Page, Sieve, Visibility } from './database.ts'
import type { Bytes, Entry } from './kv.ts'
import type { Identified, RecordKind, Stored } from './record-kind.ts'
import { pack, unpack, within, type Element } from './tuple.ts'

/** One of the ranges. */
export interface Source<R> {
  /** What all its keys begin with. */
  readonly prefix: readonly Element[]
  /** Its rows are those of an index; otherwise they are the records. */
  readonly isIndex: boolean
  /** The place in the common order of a row with this behind the prefix; unlike that of any other row. */
  readonly placeOf: (rest: readonly Element[]) => readonly Element[]
  /** What would stand behind the prefix at a place. */
  readonly restAt: (place: readonly Element[]) => readonly Element[]
  /** Another source has this record. */
  readonly skips?: (record: R) => boolean
}

export interface Merge<R> {
  readonly sources: readonly Source<R>[]
  /** Oldest (smallest) first; the largest by default. */
  readonly ascending?: boolean
  /** Begins behind this place. */
  readonly from?: readonly Element[] | undefined
  /** Records that are wanted, as far as that is known. */
  readonly expected: number
}

/** A row; `stored` is undefined when its record is out of reach, or that of another source. */
interface Merged<R> {
  readonly place: readonly Element[]
  readonly stored: Stored<R> | undefined
}

/** Rows of one source are read so many at once at most. */
const maxStep = 128

class Run<R extends Identified> {
  readonly source: Source<R>
  readonly #range: { start: Bytes; end: Bytes; readonly reverse: boolean }
  #step: number
  #rows: readonly Merged<R>[] = []
  #at = 0
  #isOver = false
  /** Of the row that is next. */
  head: Bytes | undefined

  constructor(source: Source<R>, { from, ascending = false }: Merge<R>, step: number) {
    this.source = source
    const { start, end } = within(source.prefix)
    const border = from && pack([...source.prefix, ...source.restAt(from)])
    this.#range = { start: ascending && border ? keyAfter(border) : start, end: (!ascending && border) || end, reverse: !ascending }
    this.#step = step
  }

  /** Looks at the next row. */
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

/** The rows of all sources in their order. */
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
  /** Whether a row can stand there: what a cursor says may be made up. */
  readonly isPlace: (place: readonly Element[]) => boolean
}

/**
 * One page. `name` makes the cursors those of one list. Rows outside the reach, and those that the sieve does not take, are passed over;
 * the cursor stands behind the last row looked at. Throws `CursorInvalid`.
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
