/**
 * Encodes records. Version 1 of a kind is the record in JSON, and later versions are `[version, record]`, so that records from before
 * versions existed stay valid.
 */
import { decode, encode } from './json.ts'
import { StoreDamaged, StoreFailure, type Bytes, type Entry } from './kv.ts'
import type { Identified, RecordKind } from './record-kind.ts'
import { describeKey } from './tuple.ts'

/** Returns the current version of a kind. */
export const versionOf = ({ upgrades }: { readonly upgrades: RecordKind<Identified>['upgrades'] }): number => upgrades.length + 1

export const encodeRecord = <R extends Identified>(kind: RecordKind<R>, record: R): Bytes =>
  encode(kind.upgrades.length === 0 ? record : [versionOf(kind), record])

/**
 * Decodes a record to the current version. Older records are upgraded step by step and checked against the schema; the stored bytes stay
 * until the next write. Throws `StoreFailure` for records of newer releases and failed upgrades, and `StoreDamaged` for invalid JSON.
 */
export function decodeRecord<R extends Identified>(kind: RecordKind<R>, { key, value }: Pick<Entry, 'key' | 'value'>): R {
  const stored = storedIn<R>(kind.name, key, value)
  const current = versionOf(kind)
  const [version, record] = Array.isArray(stored) ? (stored as [number, R]) : [1, stored as R]
  if (version === current) return record
  const unreadable = (reason: string, cause?: unknown): StoreFailure =>
    new StoreFailure(`${kind.name} ${describeKey(key)} ${reason}`, { key, cause })
  if (version > current) {
    throw unreadable(`was written by a newer release: in version ${version}, and this release reads versions up to ${current}.`)
  }
  try {
    return kind.schema.parse(kind.upgrades.slice(version - 1).reduce<unknown>((old, upgrade) => upgrade(old), record))
  } catch (error) {
    throw unreadable(`is stored in version ${version} and cannot be upgraded to version ${current}.`, error)
  }
}

function storedIn<R>(name: string, key: Bytes, value: Bytes): R | readonly [number, R] {
  try {
    return decode<R | readonly [number, R]>(value)
  } catch (error) {
    throw new StoreDamaged(`${name} ${describeKey(key)} is damaged: it is not JSON.`, { key, cause: error })
  }
}
