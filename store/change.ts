/** Collects one atomic write. Nothing happens before `Database.commit`. */
import type { Add, Bytes, Check, Setting, Tally, Write } from './kv.ts'
import { keyName, pack, type Element } from './tuple.ts'
import { globalKey, indexRows, keyOf, type IndexRow, type RecordKind, type Identified, type Stored } from './record-kind.ts'
import { encodeRecord } from './record-version.ts'

export { decode, encode } from './json.ts'
const empty: Bytes = Buffer.alloc(0)

/** Stands for the records of a kind in an organization. */
export const fillName = (kind: string, organizationId: string): string => `${organizationId}/${kind}`

/** What a change does to a record: there is no `before` for a new one, and no `after` for one that goes. */
export interface ChangedRecord {
  readonly kind: string
  readonly organizationId: string
  /** See `RecordKind.projectOf`. */
  readonly projectId: string | undefined
  readonly before: Identified | undefined
  readonly after: Identified | undefined
}

export class Change implements Write {
  readonly checks: Check[] = []
  readonly sets: Setting[] = []
  readonly deletes: Bytes[] = []
  readonly adds: Add[] = []
  readonly tallies: Tally[] = []
  /** Organizations whose settings this write touches. */
  readonly settingsOf: string[] = []
  /** What this write may fill, of kinds that are often empty; see `Database.isEmpty`. */
  readonly fills = new Set<string>()
  /** What this write leaves to do, as names of places to look at, by the name of who does it; see `Database.onWork`. */
  work: Map<string, Set<string>> | undefined
  /** With which it becomes visible, after all that come before; see `Database.orderedId`. */
  orderedId: string | undefined
  /** What this write does to records of the kinds that are tracked. */
  readonly changed: ChangedRecord[] = []

  /** A new record. Fails as a conflict when the id or a unique index value is taken. */
  insert<R extends Identified>(kind: RecordKind<R>, organizationId: string, record: R): this {
    const key = keyOf(kind, organizationId, record)
    this.checks.push({ key, version: undefined })
    return this.#put(kind, organizationId, record, key)
  }

  /**
   * One of many new records that are not expected to be read soon, whose ids are random enough that no look-up of them is worth its
   * time. Fails as a conflict when a unique index value is taken.
   */
  insertCold<R extends Identified>(kind: RecordKind<R>, organizationId: string, record: R): this {
    this.sets.push({ key: keyOf(kind, organizationId, record), value: encodeRecord(kind, record), isNew: true, isCold: true })
    return this.#putRows(kind, organizationId, record, true)
  }

  /** A new record whose id is random enough that no look-up is worth its time, and whose unique values are that id alone. */
  insertUnchecked<R extends Identified>(kind: RecordKind<R>, organizationId: string, record: R): this {
    this.sets.push({ key: keyOf(kind, organizationId, record), value: encodeRecord(kind, record) })
    for (const { key, value } of indexRows(kind, organizationId, record)) this.sets.push({ key, value, isNew: true })
    return this.#recordChange(kind, organizationId, undefined, record)
  }

  /** Fails as a conflict when the record has changed since it was read. */
  replace<R extends Identified>(kind: RecordKind<R>, organizationId: string, stored: Stored<R>, next: R): this {
    const key = keyOf(kind, organizationId, next)
    if (kind.place && Buffer.compare(key, keyOf(kind, organizationId, stored.record)) !== 0)
      return this.supersede(kind, organizationId, stored, next)
    this.checks.push({ key, version: stored.version })
    this.sets.push({ key, value: encodeRecord(kind, next) })
    const before = indexRows(kind, organizationId, stored.record)
    const after = indexRows(kind, organizationId, next)
    if (before.length > 0 || after.length > 0) this.#moveRows(before, after)
    return this.#recordChange(kind, organizationId, stored.record, next)
  }

  /** Like `replace`, for a change that leaves every indexed value and the place as they were. */
  rewrite<R extends Identified>(kind: RecordKind<R>, organizationId: string, stored: Stored<R>, next: R): this {
    const key = keyOf(kind, organizationId, next)
    this.checks.push({ key, version: stored.version })
    this.sets.push({ key, value: encodeRecord(kind, next) })
    return this.#recordChange(kind, organizationId, stored.record, next)
  }

  /** A new record with a key of its own in place of one that was read: unique values may pass from the old one to it. */
  supersede<R extends Identified>(kind: RecordKind<R>, organizationId: string, stored: Stored<R>, next: R): this {
    const key = keyOf(kind, organizationId, next)
    const oldKey = keyOf(kind, organizationId, stored.record)
    this.checks.push({ key: oldKey, version: stored.version }, { key, version: undefined })
    this.deletes.push(oldKey)
    this.sets.push({ key, value: encodeRecord(kind, next) })
    this.#moveRows(indexRows(kind, organizationId, stored.record), indexRows(kind, organizationId, next))
    return this.#recordChange(kind, organizationId, stored.record, next)
  }

  remove<R extends Identified>(kind: RecordKind<R>, organizationId: string, stored: Stored<R>): this {
    const key = keyOf(kind, organizationId, stored.record)
    this.checks.push({ key, version: stored.version })
    this.deletes.push(key, ...indexRows(kind, organizationId, stored.record).map((row) => row.key))
    return this.#recordChange(kind, organizationId, stored.record, undefined)
  }

  /** Fails as a conflict when the record has changed since it was read. */
  checkRecord<R extends Identified>(kind: RecordKind<R>, organizationId: string, { record, version }: Stored<R>): this {
    this.checks.push({ key: keyOf(kind, organizationId, record), version })
    return this
  }

  set(key: readonly Element[], value: Bytes | readonly Bytes[] = empty): this {
    this.sets.push({ key: pack(key), value })
    return this
  }

  delete(key: readonly Element[]): this {
    this.deletes.push(pack(key))
    return this
  }

  /** Only when the key is absent; it is set by this write. */
  setNew(key: readonly Element[], value: Bytes): this {
    const packed = pack(key)
    this.checks.push({ key: packed, version: undefined })
    this.sets.push({ key: packed, value })
    return this
  }

  check(key: readonly Element[], version: bigint | undefined): this {
    this.checks.push({ key: pack(key), version })
    return this
  }

  /** Adds to a counter; with a limit, the write fails with reason `limit` when it would be passed. */
  add(key: readonly Element[], delta: number, limit?: number): this {
    return this.addPacked(pack(key), delta, limit)
  }

  /** `add` for a key that is packed already. */
  addPacked(key: Bytes, delta: number, limit?: number): this {
    this.adds.push(limit === undefined ? { key, delta } : { key, delta, limit })
    return this
  }

  /** Adds to counts by name, see `Tally`. */
  tally(tally: Tally): this {
    this.tallies.push(tally)
    return this
  }

  /** Says who finds work at a place when this write is durable. */
  schedule(worker: string, item: string): this {
    this.work ??= new Map()
    this.work.set(worker, (this.work.get(worker) ?? new Set()).add(item))
    return this
  }

  /** Deletes the key, as this write sets it, at or soon after the given time with a later sweep. Written again, it stays. */
  expire(atMs: number, key: readonly Element[]): this {
    return this.set(globalKey('expire', atMs, pack(key)))
  }

  #put<R extends Identified>(kind: RecordKind<R>, organizationId: string, record: R, key: Bytes): this {
    this.sets.push({ key, value: encodeRecord(kind, record) })
    return this.#putRows(kind, organizationId, record)
  }

  #putRows<R extends Identified>(kind: RecordKind<R>, organizationId: string, record: R, isCold?: true): this {
    for (const { key, value, unique } of indexRows(kind, organizationId, record)) {
      if (unique) this.checks.push({ key, version: undefined })
      this.sets.push({ key, value, isCold })
    }
    return this.#recordChange(kind, organizationId, undefined, record)
  }

  #moveRows(before: readonly IndexRow[], after: readonly IndexRow[]): void {
    const old = new Map(before.map((row) => [keyName(row.key), row.value]))
    const kept = new Set(after.map((row) => keyName(row.key)))
    for (const row of before) if (!kept.has(keyName(row.key))) this.deletes.push(row.key)
    for (const row of after) {
      const there = old.get(keyName(row.key))
      if (there && Buffer.compare(there, row.value) === 0) continue
      if (row.unique && !there) this.checks.push({ key: row.key, version: undefined })
      this.sets.push({ key: row.key, value: row.value })
    }
  }

  #recordChange<R extends Identified>(kind: RecordKind<R>, organizationId: string, before: R | undefined, after: R | undefined): this {
    if (kind.isSetting && !this.settingsOf.includes(organizationId)) this.settingsOf.push(organizationId)
    if (kind.isOftenEmpty) this.fills.add(fillName(kind.name, organizationId))
    const record = after ?? before
    if (kind.isTracked && record) this.changed.push({ kind: kind.name, organizationId, projectId: kind.projectOf(record), before, after })
    return this
  }
}
