/** Records over the ordered map: typed reads inside one organization, lists by cursor, and commits of a `Change`. */
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

/** What a caller can reach: one organization, and when `bound` only what belongs to one project or to no project. */
export interface Visibility {
  readonly organizationId: string
  readonly projectId?: string
  readonly bound?: boolean
  /** Projects that are being deleted: what belongs to them is not there any more. */
  readonly hiddenProjects?: ReadonlySet<string> | undefined
}

/** A part of a list. The cursor continues it; undefined means that this was the end. */
export interface Page<T> {
  readonly rows: readonly T[]
  readonly nextCursor: string | undefined
}

export interface ListOptions {
  /** The index to walk, and the first of its values; without it, all records by id, or those with the first of their place. */
  readonly index?: string
  readonly values?: readonly Element[]
  readonly limit: number
  readonly cursor?: string | undefined
  /** Newest (largest) first; this is the default. */
  readonly ascending?: boolean
  /** Begins behind these elements of the keys, which follow `values`; for ascending lists, and only without a cursor. */
  readonly after?: readonly Element[] | undefined
  /** The list is for work of the daemon, which goes on while writes of the log are lost. */
  readonly forWork?: true
}

/** Chooses among the rows of a list what no index can choose. */
export interface Sieve<R> {
  /** What happens to a record; `end` says that neither it nor any behind it is wanted. */
  sort(record: R): 'take' | 'pass' | 'end'
  /** A page ends behind so many rows, taken or not. */
  readonly maxLooks: number
}

/** Records of an index are read so many at once at most. */
const maxStep = 128

export class Database {
  readonly kv: Kv
  readonly daemons: Daemons
  draftRoom: DraftRoom = unboundedRoom
  readonly #shared: SharedChanges | undefined
  readonly #generations = new Map<string, number>()
  readonly #workers = new Map<string, (places: ReadonlySet<string>) => void>()
  #onTallied: ((tallies: readonly Tally[]) => void) | undefined
  #commits = 0
  readonly #ids = new RecordIds()
  readonly #ordered: OrderedCommits
  /** What is known to be empty, and how many writes that fill have begun or ended. */
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
      onTallied: (tallies) => this.#onTallied?.(tallies),
    })
  }

  /**
   * Another one whenever settings of the organization were written, here or by another daemon; caches compare it. Where several daemons
   * share the store, one that cannot look into it is given another one each time.
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
   * A new id for this change, which sorts after every one of its prefix that was asked for here. Commit it at once: then records become
   * visible in the order of their ids, and who has seen the latest has missed none before it, once `settled` says so.
   */
  orderedId(change: Change, prefix: string, nowMs: number): string {
    change.orderedId = this.#ordered.next(prefix, nowMs)
    return change.orderedId
  }

  /** Resolves when nothing with an ordered id up to this one becomes visible any more; with true where something may have since a look. */
  settled(id: string): Promise<boolean> {
    return this.#ordered.settle(id)
  }

  /** Another one when changes were committed, or may have been by another daemon. */
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
    if (change.tallies.length > 0) this.#onTallied?.(change.tallies)
    if (change.work)
      for (const [worker, places] of change.work) if (this.daemons.placeOf(worker) !== 'elsewhere') this.#workers.get(worker)?.(places)
    if (this.#shared) await this.#shared.publish(change)
    return result
  }

  /** Whether `isEmpty` was found to be so and holds still; false is no answer. */
  isKnownEmpty<R extends Identified>(kind: RecordKind<R>, organizationId: string): boolean {
    return this.#empty.has(fillName(kind.name, organizationId))
  }

  /** Notified of the tallies of each change as soon as it is durable; must not throw. */
  onTallied(listener: (tallies: readonly Tally[]) => void): void {
    this.#onTallied = listener
  }

  /** Has other daemons publish the tallies of this organization too, until the returned function is called. */
  follow(organizationId: string): () => void {
    return this.#shared?.follow(organizationId) ?? ((): void => {})
  }

  /** Notified of work that changes schedule (`Change.schedule`) as soon as it is durable. What was scheduled before is in the store. */
  onWork(worker: string, listener: (places: ReadonlySet<string>) => void): void {
    this.#workers.set(worker, listener)
  }

  /**
   * Whether the organization has no record of a kind that is often empty. Found out once, and remembered until this
   * process writes one; asked each time where several daemons share the store.
   */
  async isEmpty<R extends Identified>(kind: RecordKind<R>, organizationId: string): Promise<boolean> {
    const name = fillName(kind.name, organizationId)
    if (this.#empty.has(name)) return true
    const before = this.#fillings
    for await (const _row of this.kv.range({ ...within([organizationId, kind.name]), limit: 1, whole: true })) return false
    if (kind.isOftenEmpty && !this.#shared && before === this.#fillings) this.#empty.add(name) // otherwise a write came between, or may
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

  /** Where the record with this id stands; undefined when there is none. */
  async keyFor(kind: AnyKind, organizationId: string, id: string): Promise<Bytes | undefined> {
    if (!kind.place) return recordKey(kind, organizationId, id)
    return placedKey(kind, organizationId, await this.kv.get(idRow(kind, id)))
  }

  /** A record may move between the two looks; then they are taken again. */
  async #placed(kind: AnyKind, organizationId: string, id: string): Promise<Entry | undefined> {
    for (let before: Bytes | undefined; ;) {
      const key = await this.keyFor(kind, organizationId, id)
      const entry = key && (await this.kv.get(key))
      if (entry || !key || (before && Buffer.compare(before, key) === 0)) return entry
      before = key
    }
  }

  /** The record as it is now; as given where it has not changed since, which costs no decoding. */
  async newest<R extends Identified>(kind: RecordKind<R>, reach: Visibility, known: Stored<R>): Promise<Stored<R> | undefined> {
    const entry = await this.kv.get(keyOf(kind, reach.organizationId, known.record))
    if (!entry && kind.place) return this.get(kind, reach, known.record.id)
    return entry && visible(kind, reach, entry.version === known.version ? known : toStored(kind, entry))
  }

  /** By many ids at once, each in its place of the answer. Where the place of a record is known too, its id is not looked up. */
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

  /** The records that stand for their organizations, each in its place of the answer. Not for what a tenant can reach. */
  async getOwn<R extends Identified>(kind: RecordKind<R>, organizationIds: readonly string[]): Promise<(Stored<R> | undefined)[]> {
    const entries = await this.kv.getMany(organizationIds.map((id) => recordKey(kind, id, id)))
    return entries.map((entry) => entry && toStored(kind, entry))
  }

  /** By a unique index inside the organization. */
  async find<R extends Identified>(
    kind: RecordKind<R>,
    reach: Visibility,
    index: string,
    values: readonly Element[],
  ): Promise<Stored<R> | undefined> {
    const row = await this.kv.get(pack([...uniquePrefix(kind.name, reach.organizationId, index), ...values]))
    return row && this.get(kind, reach, textOf(row))
  }

  /** By many values of a unique index, each in its place of the answer; two reads in all, one when nothing is found. */
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

  /** By a store-wide unique value; the organization comes with the record. */
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

  /** The values of a store-wide index of texts from `from` up to `until`, at most `limit`. */
  async lookupTexts(kind: AnyKind, index: string, range: { from: string; until: string; limit: number }): Promise<string[]> {
    const key = (text: string): Bytes => pack([...lookupPrefix(kind.name, index), text])
    const found: string[] = []
    const rows = this.kv.range({ start: key(range.from), end: key(range.until), limit: range.limit, whole: true })
    for await (const row of rows) found.push(String(unpack(row.key).at(-1)))
    return found
  }

  /**
   * One page of records in index order, in one walk; the records behind an index are read in steps. Rows outside the reach, and those
   * that `sieve` does not take, are passed over; the cursor stands behind the last row looked at. Throws `CursorInvalid`.
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
    // at first no more than the page can take; what is passed over makes the steps grow
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

  /** The records that rows of an index stand for, or that rows are; each in its place of the answer. */
  async recordsOf<R extends Identified>(
    kind: RecordKind<R>,
    reach: Visibility,
    rows: readonly Entry[],
    isIndex: boolean,
  ): Promise<(Stored<R> | undefined)[]> {
    return isIndex ? this.getMany(kind, reach, rows.map(idIn)) : rows.map((entry) => visible(kind, reach, toStored(kind, entry)))
  }

  /** Every record of a kind, for kinds that are few by nature. `work` goes on while writes of the log are lost. */
  async all<R extends Identified>(kind: RecordKind<R>, reach: Visibility, use: 'work' | 'shown' = 'work'): Promise<Stored<R>[]> {
    const rows: Stored<R>[] = []
    for await (const entry of this.kv.range({ ...within([reach.organizationId, kind.name]), whole: use === 'work' ? true : use })) {
      const stored = visible(kind, reach, toStored(kind, entry))
      if (stored) rows.push(stored)
    }
    return rows
  }

  /** Deletes what `Change.expire` named and whose time has come, in small writes. Returns how many keys were due. */
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
        if (entry && entry.version !== version) continue // written again since, and due at another time or never
        change.checks.push({ key: target, version: entry?.version })
        change.deletes.push(target)
      }
      if (rows === 0) return swept
      const result = await this.kv.write(change)
      if (result.ok) swept += rows // otherwise a key was written meanwhile, and the next look sees it
    }
  }
}

const textOf = ({ value }: Entry): string => Buffer.from(value).toString('utf8')
/** The record that a row of an index stands for. */
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

/** Entries in steps of `sizeNow()`, and whether any follow. */
