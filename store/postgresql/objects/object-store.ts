/** Storage of large values outside the database. Each object is written once, read, and removed. */
import type { Bytes } from '../../kv.ts'

export interface ListedObject {
  readonly name: string
  /** In milliseconds since the epoch. */
  readonly modifiedAt: number
}

/**
 * Names consist of letters, digits, `-`, `_`, `.`, and `/` between folders. All methods throw `StoreAway` if the storage is unreachable or
 * refuses.
 */
export interface ObjectStore {
  /** The address without credentials, for messages. */
  readonly shown: string
  /** Prepares the storage for the first object of a store. `folder`: first part of all its names. */
  prepare(folder: string): Promise<void>
  /** Resolves when the object is durable. `sha256` is hexadecimal. */
  put(name: string, content: Bytes, sha256: string): Promise<void>
  /** Returns undefined if the object does not exist. */
  get(name: string): Promise<Bytes | undefined>
  /** Succeeds for a missing object. */
  remove(name: string): Promise<void>
  /** Lists all objects of a store. */
  list(folder: string): AsyncIterable<ListedObject>
}
