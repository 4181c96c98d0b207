/** Collects the operations of one atomic write. `Database.commit` applies them. */
import type { Add, Bytes, Check, Setting, Tally, Write } from './kv.ts'
import { keyName, pack, type Element } from './tuple.ts'
import { globalKey, indexRows, keyOf, type IndexRow, type RecordKind, type Identified, type Stored } from './record-kind.ts'
import { encodeRecord } from './record-version.ts'

export { decode, encode } from './json.ts'
const empty: Bytes = Buffer.alloc(0)

/** Identifies the records of a kind in an organization. */
export const fillName = (kind: string, organizationId: string): string => `${organizationId}/${kind}`

/** Effect of a change on a record. A new record has no `before`; a deleted record has no `after`. */
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
  /** Organizations whose settings this write changes. */
  readonly settingsOf: string[] = []
  /** Kinds and organizations that may gain their first record; see `Database.isEmpty`. */
  readonly fills = new Set<string>()
  /** Items to process, such as ids of records, by the name of the worker; see `Database.onWork`. */
  work: Map<string, Set<string>> | undefined
  /** The id that makes this write visible, after all earlier ids; see `Database.orderedId`. */
  orderedId: string | undefined
  /** Effects on records of tracked kinds. */
  readonly changed: ChangedRecord[] = []
  /** Positions in `sets` of values that a later call may replace, by slot. */
  #slots: Map<string, number> | undefined

  /** Inserts a record. The commit is a conflict if the id or a unique index value exists. */
  insert<R extends Identified>(kind: RecordKind<R>, organizationId: string, record: R): this {
    const key = keyOf(kind, organizationId, record)
    this.checks.push({ key, version: undefined })
    return this.#put(kind, organizationId, record, key)
  }

  /**
   * Inserts a record that is unlikely to be read soon and whose id is random enough to skip the look-up. The commit is a conflict if a
   * unique index value exists.
   */
  insertCold<R extends Identified>(kind: RecordKind<R>, organizationId: string, record: R): this {
    this.sets.push({ key: keyOf(kind, organizationId, record), value: encodeRecord(kind, record), isNew: true, isCold: true })
    return this.#putRows(kind, organizationId, record, true)
  }

  /** Inserts a record whose id is random enough to skip the look-up, and whose only unique value is the id. */
  insertUnchecked<R extends Identified>(kind: RecordKind<R>, organizationId: string, record: R): this {
    this.sets.push({ key: keyOf(kind, organizationId, record), value: encodeRecord(kind, record) })
    for (const { key, value } of indexRows(kind, organizationId, record)) this.sets.push({ key, value, isNew: true })
    return this.#recordChange(kind, organizationId, undefined, record)
  }

  /** The commit is a conflict if the record was changed after the read. */
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

  /** Like `replace`, for a change that keeps every indexed value and the place. */
  rewrite<R extends Identified>(kind: RecordKind<R>, organizationId: string, stored: Stored<R>, next: R): this {
    const key = keyOf(kind, organizationId, next)
    this.checks.push({ key, version: stored.version })
    this.sets.push({ key, value: encodeRecord(kind, next) })
    return this.#recordChange(kind, organizationId, stored.record, next)
  }

  /** Inserts a record with another key in place of a record that was read. The new record may take over its unique values. */
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

  /** The commit is a conflict if the record was changed after the read. */
  checkRecord<R extends Identified>(kind: RecordKind<R>, organizationId: string, { record, version }: Stored<R>): this {
    this.checks.push({ key: keyOf(kind, organizationId, record), version })
    return this
  }

  set(key: readonly Element[], value: Bytes | readonly Bytes[] = empty): this {
    this.sets.push({ key: pack(key), value })
    return this
  }

  /** Like `set`. A later call with the same slot replaces the key and the value, unlike a second `set`. */
  setSlot(slot: string, key: readonly Element[], value: Bytes = empty): this {
    const setting = { key: pack(key), value }
    this.#slots ??= new Map()
    const at = this.#slots.get(slot)
    if (at === undefined) this.#slots.set(slot, this.sets.push(setting) - 1)
    else this.sets[at] = setting
    return this
  }

  /** Returns the current value of a slot. */
  slot(slot: string): Bytes | undefined {
    const at = this.#slots?.get(slot)
    const value = at === undefined ? undefined : this.sets[at]?.value
    return value instanceof Uint8Array ? value : undefined
  }

  delete(key: readonly Element[]): this {
    this.deletes.push(pack(key))
    return this
  }

  /** Sets a key that must be absent. */
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

  /** Adds to a counter. The commit fails with reason `limit` if the counter would exceed the limit. */
  add(key: readonly Element[], delta: number, limit?: number): this {
    return this.addPacked(pack(key), delta, limit)
  }

  /** Like `add`, for a packed key. */
  addPacked(key: Bytes, delta: number, limit?: number): this {
    this.adds.push(limit === undefined ? { key, delta } : { key, delta, limit })
    return this
  }

  /** Adds to counts by name; see `Tally`. */
  tally(tally: Tally): this {
    this.tallies.push(tally)
    return this
  }

  /** Notifies a worker of an item to process, such as the id of a record, when this write is durable. */
  schedule(worker: string, item: string): this {
    this.work ??= new Map()
    this.work.set(worker, (this.work.get(worker) ?? new Set()).add(item))
    return this
  }

  /** Deletes the key in a sweep at or soon after the given time, unless a later write sets the key again. */
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
