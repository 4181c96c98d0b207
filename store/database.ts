/** Records in an ordered map: typed reads within one organization, lists with cursors, and commits of a `Change`. */
import { Change, decode, fillName } from './change.ts'
import { cursorAt, cursorRange, keyAfter } from './cursor.ts'
import type { Daemons } from './daemons/daemons.ts'
import { OneDaemon } from './daemons/one-daemon.ts'
import { SharedChanges } from './daemons/shared-changes.ts'
import { RecordIds } from './ids.ts'
import { OrderedCommits } from './ordered-commits.ts'
import { unboundedRoom, type Bytes, type DraftRoom, type Entry, type Kv, type Tally, type WriteResult } from './kv.ts'
import {
  globalKey,
  idRow,
  indexPrefix,
  lookupPrefix,
  keyOf,
  placedKey,
  recordKey,
  uniquePrefix,
  type AnyKind,
  type Identified,
  type Places,
  type RecordKind,
  type Stored,
} from './record-kind.ts'
import { inSteps } from './in-steps.ts'
import { decodeRecord } from './record-version.ts'
import { pack, unpack, within, type Element } from './tuple.ts'

/** Access of a caller: one organization; with `bound`, only records of one project or without a project. */
export interface Visibility {
  readonly organizationId: string
  readonly projectId?: string
  readonly bound?: boolean
  /** Projects that are being deleted. Their records are hidden. */
  readonly hiddenProjects?: ReadonlySet<string> | undefined
}

/** A part of a list. The cursor continues it; it is undefined at the end. */
export interface Page<T> {
  readonly rows: readonly T[]
  readonly nextCursor: string | undefined
}

export interface ListOptions {
  /** The index to walk, and its first values. Without an index, all records by id, or by the first elements of their place. */
  readonly index?: string
  readonly values?: readonly Element[]
  readonly limit: number
  readonly cursor?: string | undefined
  /** Smallest first. By default, the largest (newest) come first. */
  readonly ascending?: boolean
  /** Starts after these elements of the keys, which follow `values`. Only for ascending lists without a cursor. */
  readonly after?: readonly Element[] | undefined
  /** The list serves work of the daemon, which continues while writes of the log are lost. */
  readonly forWork?: true
}

/** Selects rows of a list by criteria that have no index. */
export interface Sieve<R> {
  /** `take` keeps the record, `pass` skips it, and `end` skips it and all later records. */
  sort(record: R): 'take' | 'pass' | 'end'
  /** The page ends after this number of rows. */
  readonly maxLooks: number
}

/** Largest number of records of an index that are read at once. */
const maxStep = 128

export class Database {
  readonly kv: Kv
  readonly daemons: Daemons
  draftRoom: DraftRoom = unboundedRoom
  readonly #shared: SharedChanges | undefined
  readonly #generations = new Map<string, number>()
  readonly #workers = new Map<string, (places: ReadonlySet<string>) => void>()
  readonly #talliedListeners: ((tallies: readonly Tally[]) => void)[] = []
  readonly #tallied = (tallies: readonly Tally[]): void => this.#talliedListeners.forEach((listener) => listener(tallies))
  #commits = 0
  readonly #ids = new RecordIds()
  readonly #ordered: OrderedCommits
  /** Kinds and organizations without records, and the number of started and finished writes that can fill them. */
  readonly #empty = new Set<string>()
  #fillings = 0

  constructor(kv: Kv, daemons: Daemons = new OneDaemon()) {
    this.kv = kv
    this.daemons = daemons
    this.#ordered = new OrderedCommits(daemons, this.#ids)
    if (daemons.isAlone) return
    this.#shared = new SharedChanges(kv, daemons, {
      onSettings: (ids) => ids.forEach((id) => this.#settingsChanged(id)),
      onWork: (worker, places) => daemons.placeOf(worker) === 'here' && this.#workers.get(worker)?.(places),
      onTallied: this.#tallied,
    })
  }

  /**
   * Changes with each write to settings of the organization, by any daemon. Caches compare it. If this daemon cannot read the value that
   * daemons share, each call returns a new number.
   */
  generation(organizationId: string): number {
    return (this.#generations.get(organizationId) ?? 0) + (this.#shared?.generation(organizationId) ?? 0)
  }

  #settingsChanged(organizationId: string): void {
    this.#generations.set(organizationId, (this.#generations.get(organizationId) ?? 0) + 1)
  }

  /** Creates an id for a record. Ids of one millisecond sort in their order of creation in this store. */
  newId(prefix: string, nowMs: number): string {
    return this.#ids.next(prefix, nowMs)
  }

  /**
   * Creates an id for this change that sorts after all earlier ids of the prefix. Commit the change immediately. Records become visible in
   * the order of their ids: after `settled` resolves, no record with a smaller id can appear.
   */
  orderedId(change: Change, prefix: string, nowMs: number): string {
    change.orderedId = this.#ordered.next(prefix, nowMs)
    return change.orderedId
  }

  /**
   * Resolves when no record with an ordered id up to this id can become visible. Resolves with true if such a record may have appeared
   * since the last read.
   */
  settled(id: string): Promise<boolean> {
    return this.#ordered.settle(id)
  }

  /** Changes after each commit, and when another daemon may have committed. */
  get commits(): number {
    return this.#shared ? ++this.#commits : this.#commits
  }

  async commit(change: Change): Promise<WriteResult> {
    if (change.fills.size > 0) this.#fillings++
    if (change.settingsOf.length > 0) this.#shared?.count(change)
    const { orderedId } = change
    const write = (): Promise<WriteResult> => this.kv.write(change)
    const result = await (orderedId === undefined ? write() : this.#ordered.commit(orderedId, write))
    this.#commits++
    if (change.fills.size > 0) this.#forgetEmpty(change.fills)
    if (!result.ok) return result
    for (const id of change.settingsOf) this.#settingsChanged(id)
    if (change.tallies.length > 0) this.#tallied(change.tallies)
    if (change.work)
      for (const [worker, places] of change.work) if (this.daemons.placeOf(worker) !== 'elsewhere') this.#workers.get(worker)?.(places)
    if (this.#shared) await this.#shared.publish(change)
    return result
  }

  /** True if `isEmpty` returned true and no write has changed it since. False means unknown. */
  isKnownEmpty<R extends Identified>(kind: RecordKind<R>, organizationId: string): boolean {
    return this.#empty.has(fillName(kind.name, organizationId))
  }

  /** Calls the listener with the tallies of each change as soon as it is durable. Listeners must not throw. */
  onTallied(listener: (tallies: readonly Tally[]) => void): void {
    this.#talliedListeners.push(listener)
  }

  /** Makes other daemons publish the tallies of this organization until the returned function is called. */
  follow(organizationId: string): () => void {
    return this.#shared?.follow(organizationId) ?? ((): void => {})
  }

  /** Calls the listener with items that changes schedule (`Change.schedule`) once they are durable. Earlier items are in the store. */
  onWork(worker: string, listener: (places: ReadonlySet<string>) => void): void {
    this.#workers.set(worker, listener)
  }

  /**
   * Returns whether the organization has no record of an often empty kind. A single daemon reads this once and remembers it until it writes
   * such a record. Daemons that share a store read it each time.
   */
  async isEmpty<R extends Identified>(kind: RecordKind<R>, organizationId: string): Promise<boolean> {
    const name = fillName(kind.name, organizationId)
    if (this.#empty.has(name)) return true
    const before = this.#fillings
    for await (const _row of this.kv.range({ ...within([organizationId, kind.name]), limit: 1, whole: true })) return false
    if (kind.isOftenEmpty && !this.#shared && before === this.#fillings) this.#empty.add(name) // no write in between
    return true
  }

  #forgetEmpty(names: Iterable<string>): void {
    this.#fillings++
    for (const name of names) this.#empty.delete(name)
  }

  async get<R extends Identified>(kind: RecordKind<R>, reach: Visibility, id: string): Promise<Stored<R> | undefined> {
    const entry = kind.place
      ? await this.#placed(kind, reach.organizationId, id)
      : await this.kv.get(recordKey(kind, reach.organizationId, id))
    return entry && visible(kind, reach, toStored(kind, entry))
  }

  /** Returns the key of a record by id; undefined if it does not exist. */
  async keyFor(kind: AnyKind, organizationId: string, id: string): Promise<Bytes | undefined> {
    if (!kind.place) return recordKey(kind, organizationId, id)
    return placedKey(kind, organizationId, await this.kv.get(idRow(kind, id)))
  }

  /** Repeats the reads if the record moved between them. */
  async #placed(kind: AnyKind, organizationId: string, id: string): Promise<Entry | undefined> {
    for (let before: Bytes | undefined; ;) {
      const key = await this.keyFor(kind, organizationId, id)
      const entry = key && (await this.kv.get(key))
      if (entry || !key || (before && Buffer.compare(before, key) === 0)) return entry
      before = key
    }
  }

  /** Returns the current version of the record. An unchanged record is returned as given, without decoding. */
  async newest<R extends Identified>(kind: RecordKind<R>, reach: Visibility, known: Stored<R>): Promise<Stored<R> | undefined> {
    const entry = await this.kv.get(keyOf(kind, reach.organizationId, known.record))
    if (!entry && kind.place) return this.get(kind, reach, known.record.id)
    return entry && visible(kind, reach, entry.version === known.version ? known : toStored(kind, entry))
  }

  /** Reads many ids at once; the result has their order. If the place of a record is known, its id is not looked up. */
  async getMany<R extends Identified>(
    kind: RecordKind<R>,
    reach: Visibility,
    ids: readonly string[],
    places: Places = [],
  ): Promise<(Stored<R> | undefined)[]> {
    const keyOfId = (id: string): Bytes => recordKey(kind, reach.organizationId, id)
    const entries = kind.place ? await this.#manyPlaced(kind, reach.organizationId, ids, places) : await this.kv.getMany(ids.map(keyOfId))
    return entries.map((entry) => entry && visible(kind, reach, toStored(kind, entry)))
  }

  async #manyPlaced(kind: AnyKind, organizationId: string, ids: readonly string[], places: Places): Promise<(Entry | undefined)[]> {
    const idRows = ids.filter((_, i) => !places[i]).map((id) => idRow(kind, id))
    const rows = (await this.kv.getMany(idRows)).values()
    const keyAt = (id: string, place: Places[number]): Bytes | undefined =>
      place ? recordKey(kind, organizationId, id, place) : placedKey(kind, organizationId, rows.next().value)
    const keys = ids.map((id, i) => keyAt(id, places[i]))
    const entries = await this.kv.getMany(keys.filter((key) => key !== undefined))
    let next = 0
    const found = keys.map((key) => key && entries[next++])
    return Promise.all(found.map(async (entry, i) => entry ?? (keys[i] && this.#placed(kind, organizationId, ids[i] ?? ''))))
  }

  /** Reads the record that represents each organization; the result has their order. Not for access by tenants. */
  async getOwn<R extends Identified>(kind: RecordKind<R>, organizationIds: readonly string[]): Promise<(Stored<R> | undefined)[]> {
    const entries = await this.kv.getMany(organizationIds.map((id) => recordKey(kind, id, id)))
    return entries.map((entry) => entry && toStored(kind, entry))
  }

  /** Finds a record by a unique index of the organization. */
  async find<R extends Identified>(
    kind: RecordKind<R>,
    reach: Visibility,
    index: string,
    values: readonly Element[],
  ): Promise<Stored<R> | undefined> {
    const row = await this.kv.get(pack([...uniquePrefix(kind.name, reach.organizationId, index), ...values]))
    return row && this.get(kind, reach, textOf(row))
  }

  /** Finds records by values of a unique index; the result has their order. Two reads in total, or one if nothing is found. */
  async findMany<R extends Identified>(
    kind: RecordKind<R>,
    reach: Visibility,
    index: string,
    values: readonly (readonly Element[])[],
  ): Promise<(Stored<R> | undefined)[]> {
    const prefix = uniquePrefix(kind.name, reach.organizationId, index)
    const rows = await this.kv.getMany(values.map((one) => pack([...prefix, ...one])))
    const found = rows.flatMap((row, at) => (row ? [{ at, key: recordKey(kind, reach.organizationId, textOf(row)) }] : []))
    const answer: (Stored<R> | undefined)[] = rows.map(() => undefined)
    if (found.length === 0) return answer
    const entries = await this.kv.getMany(found.map(({ key }) => key))
    for (const [i, { at }] of found.entries()) {
      const entry = entries[i]
      answer[at] = entry && visible(kind, reach, toStored(kind, entry))
    }
    return answer
  }

  /** Finds a record by a value that is unique in the store, and returns its organization. */
  async lookup<R extends Identified>(
    kind: RecordKind<R>,
    index: string,
    values: readonly Element[],
  ): Promise<(Stored<R> & { readonly organizationId: string }) | undefined> {
    const row = await this.kv.get(pack([...lookupPrefix(kind.name, index), ...values]))
    if (!row) return undefined
    const [organizationId, id] = decode<[string, string]>(row.value)
    const stored = await this.get(kind, { organizationId }, id)
    return stored && { ...stored, organizationId }
  }

  /** Returns values of a store-wide text index from `from` up to `until`, at most `limit`. */
  async lookupTexts(kind: AnyKind, index: string, range: { from: string; until: string; limit: number }): Promise<string[]> {
    const key = (text: string): Bytes => pack([...lookupPrefix(kind.name, index), text])
    const found: string[] = []
    const rows = this.kv.range({ start: key(range.from), end: key(range.until), limit: range.limit, whole: true })
    for await (const row of rows) found.push(String(unpack(row.key).at(-1)))
    return found
  }

  /**
   * Returns one page of records in index order, in one walk. Records of an index are read in steps. Rows that are inaccessible, or that
   * `sieve` passes, are skipped. The cursor follows the last row that was read. Throws `CursorInvalid`.
   */
  async list<R extends Identified>(
    kind: RecordKind<R>,
    reach: Visibility,
    options: ListOptions,
    sieve?: Sieve<R>,
  ): Promise<Page<Stored<R>>> {
    const prefix: readonly Element[] = options.index
      ? [...indexPrefix(kind.name, reach.organizationId, options.index), ...(options.values ?? [])]
      : [reach.organizationId, kind.name, ...(options.values ?? [])]
    const from = options.after && options.cursor === undefined ? keyAfter(pack([...prefix, ...options.after])) : undefined
    const range = { ...cursorRange(prefix, options.cursor, options.ascending ?? false), ...(from && { start: from }) }
    const entries = this.kv.range({ ...range, reverse: !options.ascending, whole: options.forWork ?? 'shown' })
    const { limit } = options
    const rows: Stored<R>[] = []
    if (limit === 0) return { rows, nextCursor: undefined }
    const maxLooks = sieve?.maxLooks ?? Infinity
    let looks = 0
    // starts with the size of the page and grows with the number of skipped rows
    let size = options.index ? Math.min(limit, maxLooks, maxStep) : 1
    for await (const { step, hasMore } of inSteps(entries, () => size)) {
      const found = await this.recordsOf(kind, reach, step, options.index !== undefined)
      for (const [i, stored] of found.entries()) {
        looks++
        const fate = stored ? (sieve?.sort(stored.record) ?? 'take') : 'pass'
        if (fate === 'end') return { rows, nextCursor: undefined }
        if (stored && fate === 'take') rows.push(stored)
        const last = step[i]
        if (last && (rows.length === limit || looks === maxLooks))
          return { rows, nextCursor: hasMore || i + 1 < step.length ? cursorAt(prefix, last.key) : undefined }
      }
      if (options.index) size = Math.min(2 * size, maxLooks - looks, maxStep)
    }
    return { rows, nextCursor: undefined }
  }

  /** Reads the records of index rows, or decodes rows that are records; the result has their order. */
  async recordsOf<R extends Identified>(
    kind: RecordKind<R>,
    reach: Visibility,
    rows: readonly Entry[],
    isIndex: boolean,
  ): Promise<(Stored<R> | undefined)[]> {
    return isIndex ? this.getMany(kind, reach, rows.map(idIn)) : rows.map((entry) => visible(kind, reach, toStored(kind, entry)))
  }

  /** Reads all records of a kind with few records. Reads for `work` continue while writes of the log are lost. */
  async all<R extends Identified>(kind: RecordKind<R>, reach: Visibility, use: 'work' | 'shown' = 'work'): Promise<Stored<R>[]> {
    const rows: Stored<R>[] = []
    for await (const entry of this.kv.range({ ...within([reach.organizationId, kind.name]), whole: use === 'work' ? true : use })) {
      const stored = visible(kind, reach, toStored(kind, entry))
      if (stored) rows.push(stored)
    }
    return rows
  }

  /** Deletes expired keys (`Change.expire`) in small writes. Returns the number of expired keys. */
  async sweep(nowMs: number, stepRows = 500): Promise<number> {
    let swept = 0
    for (;;) {
      const change = new Change()
      const due = { start: pack(globalKey('expire')), end: pack(globalKey('expire', nowMs)), limit: stepRows }
      let rows = 0
      for await (const { key, version } of this.kv.range(due)) {
        rows++
        change.deletes.push(key)
        const target = unpack(key)[3]
        if (!(target instanceof Uint8Array)) continue
        const entry = await this.kv.get(target)
        if (entry && entry.version !== version) continue // written again, with another expiry or without one
        change.checks.push({ key: target, version: entry?.version })
        change.deletes.push(target)
      }
      if (rows === 0) return swept
      const result = await this.kv.write(change)
      if (result.ok) swept += rows // otherwise a key was written at the same time, and the next sweep reads it
    }
  }
}

const textOf = ({ value }: Entry): string => Buffer.from(value).toString('utf8')
/** Returns the record id of an index row. */
const idIn = ({ key }: Entry): string => String(unpack(key).at(-1))
export const toStored = <R extends Identified>(kind: RecordKind<R>, entry: Entry): Stored<R> => ({
  record: decodeRecord(kind, entry),
  version: entry.version,
})

function visible<R extends Identified>(kind: RecordKind<R>, reach: Visibility, stored: Stored<R>): Stored<R> | undefined {
  const project = reach.bound || reach.hiddenProjects ? kind.projectOf(stored.record) : undefined
  if (project === undefined) return stored
  return reach.hiddenProjects?.has(project) || (reach.bound && project !== reach.projectId) ? undefined : stored
}
