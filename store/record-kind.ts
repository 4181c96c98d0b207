/** A kind of record: its name in keys, its schema, and its indexes, declared in one file next to the noun it belongs to. */
import type { z } from 'zod'
import { decode } from './json.ts'
import type { Bytes, Entry } from './kv.ts'
import { pack, type Element } from './tuple.ts'

export interface Identified {
  readonly id: string
}

/** The type a schema describes, as records are: never changed in place. */
export type Immutable<T> = T extends object ? { readonly [Key in keyof T]: Immutable<T[Key]> } : T

/** A record as it was read; `version` guards the write that follows. */
export interface Stored<R> {
  readonly record: R
  readonly version: bigint
}

/** The values under which a record is found; one array for each row. */
export type IndexValues<R> = (record: R) => readonly (readonly Element[])[]

/** Makes a record of one version out of one of the version before it; pure. `upgradeFrom` makes one. */
export type UpgradeStep = (old: unknown) => unknown

export interface RecordKind<R extends Identified> {
  readonly name: string
  /** What people call one of them, in sentences such as "No routing rule has this id."; made of the name by default. */
  readonly noun: string
  /** The record in the version that is written. */
  readonly schema: z.ZodType<R>
  /**
   * The first leads from version 1 to 2, and so on: a changed schema comes with one more. A step leaves what the record's indexes
   * are made of as it is, since the index rows of older records stay as they are stored.
   */
  readonly upgrades: readonly UpgradeStep[]
  /**
   * What stands before the id in the keys of records that lie in an order of their own, such as that of their time, so that no index is
   * needed for it. They are found by id through the look-up `id`, which such a kind must have, by its ids alone.
   */
  readonly place: ((record: R) => readonly Element[]) | undefined
  /** Range indexes inside the organization. */
  readonly indexes: Readonly<Record<string, IndexValues<R>>>
  /** Unique inside the organization. */
  readonly unique: Readonly<Record<string, IndexValues<R>>>
  /** Unique in the whole store, and found without knowing the organization (a key's hash, a public id). */
  readonly lookups: Readonly<Record<string, IndexValues<R>>>
  /** Settings are few and read with every send: they are cached, and their writes invalidate the cache. */
  readonly isSetting: boolean
  /** Most organizations have none, and every send asks: that there are none is remembered, see `Database.isEmpty`. */
  readonly isOftenEmpty: boolean
  /** A change notes what it does to these records (`Change.touched`), for the log of who did what. */
  readonly isTracked: boolean
  /** The project a record belongs to; undefined for what belongs to the organization. */
  readonly projectOf: (record: R) => string | undefined
}

/** Fills in what a kind leaves out. */
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

/** A step from records of an earlier schema. Throws when one does not fit it. */
export const upgradeFrom =
  <Old>(schema: z.ZodType<Old>, step: (old: Old) => unknown): UpgradeStep =>
  (old) =>
    step(schema.parse(old))

/** Keys that belong to no organization. */
export const globalKey = (...elements: readonly Element[]): readonly Element[] => ['', ...elements]

/** The key of a record by its id, and by its place where its kind has places. */
export const recordKey = (kind: AnyKind, organizationId: string, id: string, place: readonly Element[] = []): Bytes =>
  pack([organizationId, kind.name, ...place, id])

export const keyOf = <R extends Identified>(kind: RecordKind<R>, organizationId: string, record: R): Bytes =>
  recordKey(kind, organizationId, record.id, kind.place?.(record))

/** Key prefixes of index rows; the sign is the sort of index. */
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

/** Every index row that a record has. */
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

/** A kind whatever its records are. */
// oxlint-disable-next-line typescript/no-explicit-any -- a kind both reads and writes its records, so no narrower type takes all
export type AnyKind = RecordKind<any>

/** Of records, each with its id; undefined where one is not known. */
export type Places = readonly (readonly Element[] | undefined)[]

/** The key of the look-up row of an id. */
export const idRow = (kind: AnyKind, id: string): Bytes => pack([...lookupPrefix(kind.name, 'id'), id])

/** Where the look-up row of an id says that the record stands; undefined when it is of another organization. */
export function placedKey(kind: AnyKind, organizationId: string, row: Entry | undefined): Bytes | undefined {
  if (!row) return undefined
  const [owner, id, ...place] = decode<[string, string, ...Element[]]>(row.value)
  return owner === organizationId ? recordKey(kind, owner, id, place) : undefined
}
