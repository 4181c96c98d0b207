/** Where large values stand apart from the database, each as one object: written once, read, and removed. */
import type { Bytes } from '../../kv.ts'

export interface ListedObject {
  readonly name: string
  /** In milliseconds since the epoch. */
  readonly modifiedAt: number
}

/**
 * Names consist of lower and upper case letters, digits, `-`, `_`, `.`, and `/` between folders. Throws `StoreAway` when it cannot be
 * reached, or refuses.
 */
export interface ObjectStore {
  /** Without credentials, for messages. */
  readonly shown: string
  /** Makes what a store needs before its first object; `folder` is the first part of all its names. */
  prepare(folder: string): Promise<void>
  /** Resolves once the object is durable. `sha256` in hexadecimal. */
  put(name: string, content: Bytes, sha256: string): Promise<void>
  /** Undefined when it is not there. */
  get(name: string): Promise<Bytes | undefined>
  /** It may be gone already. */
  remove(name: string): Promise<void>
  /** All objects of a store. */
  list(folder: string): AsyncIterable<ListedObject>
}
