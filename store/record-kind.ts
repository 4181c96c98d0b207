/** A kind of record: its name in keys, schema and indexes. The file of the noun declares it. */
import type { z } from 'zod'
import { decode } from './json.ts'
import type { Bytes, Entry } from './kv.ts'
import { pack, type Element } from './tuple.ts'

export interface Identified {
  readonly id: string
}

/** The type of a schema with read-only fields, because records are never changed in place. */
export type Immutable<T> = T extends object ? { readonly [Key in keyof T]: Immutable<T[Key]> } : T

/** A record that was read. `version` guards the next write. */
export interface Stored<R> {
  readonly record: R
  readonly version: bigint
}

/** Returns the index values of a record, one array for each row. */
export type IndexValues<R> = (record: R) => readonly (readonly Element[])[]

/** Converts a record from one version to the next; pure. `upgradeFrom` creates such a step. */
export type UpgradeStep = (old: unknown) => unknown

export interface RecordKind<R extends Identified> {
  readonly name: string
  /** Name in sentences such as "No routing rule has this id."; derived from `name` by default. */
  readonly noun: string
  /** Schema of the current version. */
  readonly schema: z.ZodType<R>
  /**
   * Steps to the current version: the first converts version 1 to 2. Each change of the schema adds a step. A step must keep the indexed
   * fields, because index rows of older records stay as stored.
   */
  readonly upgrades: readonly UpgradeStep[]
  /**
   * Key elements before the id, for records with their own order, such as a time, which then need no index. The look-up `id` finds such
   * records by id; it must exist and depend only on the id.
   */
  readonly place: ((record: R) => readonly Element[]) | undefined
  /** Range indexes of the organization. */
  readonly indexes: Readonly<Record<string, IndexValues<R>>>
  /** Unique in the organization. */
  readonly unique: Readonly<Record<string, IndexValues<R>>>
  /** Unique in the whole store, and readable without the organization, such as the hash of a key or a public id. */
  readonly lookups: Readonly<Record<string, IndexValues<R>>>
  /** Settings are few and are read with each send. They are cached, and their writes invalidate the cache. */
  readonly isSetting: boolean
  /** Most organizations have no such record, and each send reads it. `Database.isEmpty` remembers the absence. */
  readonly isOftenEmpty: boolean
  /** Changes list their effects on these records (`Change.touched`) for the audit log. */
  readonly isTracked: boolean
  /** Returns the project of a record; undefined for records of the organization. */
  readonly projectOf: (record: R) => string | undefined
}

/** Adds the defaults of a kind. */
export function defineRecord<R extends Identified>(kind: Pick<RecordKind<R>, 'name' | 'schema'> & Partial<RecordKind<R>>): RecordKind<R> {
  return {
    noun: kind.name.replaceAll('_', ' '),
    upgrades: [],
    place: undefined,
    indexes: {},
    unique: {},
    lookups: {},
    isSetting: false,
    isOftenEmpty: false,
    isTracked: false,
    projectOf: () => undefined,
    ...kind,
  }
}

/** Creates a step from an earlier schema. The step throws if a record does not match it. */
export const upgradeFrom =
  <Old>(schema: z.ZodType<Old>, step: (old: Old) => unknown): UpgradeStep =>
  (old) =>
    step(schema.parse(old))

/** Returns a key outside all organizations. */
export const globalKey = (...elements: readonly Element[]): readonly Element[] => ['', ...elements]

/** Returns the key of a record from its id, and from its place if the kind has places. */
export const recordKey = (kind: AnyKind, organizationId: string, id: string, place: readonly Element[] = []): Bytes =>
  pack([organizationId, kind.name, ...place, id])

export const keyOf = <R extends Identified>(kind: RecordKind<R>, organizationId: string, record: R): Bytes =>
  recordKey(kind, organizationId, record.id, kind.place?.(record))

/** Returns the key prefix of index rows. The sign marks the sort of index. */
export const indexPrefix = (kind: string, organizationId: string, index: string): readonly Element[] => [organizationId, `${kind}#${index}`]
export const uniquePrefix = (kind: string, organizationId: string, index: string): readonly Element[] => [
  organizationId,
  `${kind}!${index}`,
]
export const lookupPrefix = (kind: string, index: string): readonly Element[] => globalKey(`${kind}@${index}`)

export interface IndexRow {
  readonly key: Bytes
  readonly value: Bytes
  readonly unique: boolean
}

const nothing = Buffer.alloc(0)

/** Returns all index rows of a record. */
export function indexRows<R extends Identified>(kind: RecordKind<R>, organizationId: string, record: R): IndexRow[] {
  const rows: IndexRow[] = []
  const add = (elements: readonly Element[], value: Bytes, unique: boolean): void => {
    rows.push({ key: pack(elements), value, unique })
  }
  for (const index in kind.indexes) {
    for (const values of kind.indexes[index]?.(record) ?? [])
      add([...indexPrefix(kind.name, organizationId, index), ...values, record.id], nothing, false)
  }
  for (const index in kind.unique) {
    for (const values of kind.unique[index]?.(record) ?? [])
      add([...uniquePrefix(kind.name, organizationId, index), ...values], Buffer.from(record.id), true)
  }
  for (const index in kind.lookups) {
    const target = Buffer.from(JSON.stringify([organizationId, record.id, ...(kind.place?.(record) ?? [])]))
    for (const values of kind.lookups[index]?.(record) ?? []) add([...lookupPrefix(kind.name, index), ...values], target, true)
  }
  return rows
}

/** Any kind of record. */
// oxlint-disable-next-line typescript/no-explicit-any -- a kind both reads and writes its records, so no narrower type takes all
export type AnyKind = RecordKind<any>

/** Places of records, each with the id; undefined if a place is unknown. */
export type Places = readonly (readonly Element[] | undefined)[]

/** Returns the key of the look-up row of an id. */
export const idRow = (kind: AnyKind, id: string): Bytes => pack([...lookupPrefix(kind.name, 'id'), id])

/** Returns the key that the look-up row of an id refers to; undefined if the record belongs to another organization. */
export function placedKey(kind: AnyKind, organizationId: string, row: Entry | undefined): Bytes | undefined {
  if (!row) return undefined
  const [owner, id, ...place] = decode<[string, string, ...Element[]]>(row.value)
  return owner === organizationId ? recordKey(kind, owner, id, place) : undefined
}
