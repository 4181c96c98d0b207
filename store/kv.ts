/**
 * The only interface of the store: an ordered map of byte keys to byte values with conditional atomic writes, like FoundationDB's. All
 * layers above it work with any implementation that passes the contract suite.
 */
export type Bytes = Uint8Array

/** Returns the number of octets in all pieces. */
export function lengthOf(pieces: readonly Bytes[]): number {
  let length = 0
  for (const piece of pieces) length += piece.length
  return length
}

/** Joins pieces. A single piece is not copied. */
export const joined = (pieces: readonly Bytes[]): Bytes => (pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces))

/** A stored value. `version` changes with each write of the key and never repeats. */
export interface Entry {
  readonly key: Bytes
  readonly value: Bytes
  readonly version: bigint
}

/** Keys from `start` (inclusive) to `end` (exclusive), in byte order or reversed. */
export interface Range {
  readonly start: Bytes
  readonly end: Bytes
  readonly limit?: number
  readonly reverse?: boolean
  /** Values may be empty. This saves reading values that are stored separately. */
  readonly keysOnly?: boolean
  /**
   * Throws `StoreDamaged` for rows that damage may hide. With `shown`, for lists that people read, also while lost writes of the log may
   * hide unknown rows.
   */
  readonly whole?: boolean | 'shown'
}

/** Requires that the key has this version. `undefined` requires that the key is absent and that the same write sets it. */
export interface Check {
  readonly key: Bytes
  readonly version: bigint | undefined
}

/**
 * Adds to a counter at commit, in order of arrival, so that busy counters never conflict. With `limit`, the whole write fails if the
 * counter would exceed it. A negative delta never fails.
 */
export interface Add {
  readonly key: Bytes
  readonly delta: number
  readonly limit?: number
}

/**
 * Adds to named counts in one value, which `get` and `range` return; see `tally.ts`. Applied like `Add`, and never refused. Only tallies
 * may write such a key.
 */
export interface Tally {
  readonly key: Bytes
  readonly names: readonly string[]
  /** Added to each name; 1 by default. */
  readonly delta?: number
  /** Largest number of subjects in the value. */
  readonly maxSubjects?: number
}

/** Pieces are stored as one value. */
export interface Setting {
  readonly key: Bytes
  readonly value: Bytes | readonly Bytes[]
  /** The key has never existed. */
  readonly isNew?: true | undefined
  /** The value is unlikely to be read soon. */
  readonly isCold?: true | undefined
}

/**
 * Applied completely or not at all: a failed check or an exceeded limit prevents the whole write. Deletes are applied before sets, so a key
 * in both is set. A key has either a value or a counter. `get` and `range` return values only; `deletes` accepts both.
 */
export interface Write {
  readonly checks: readonly Check[]
  readonly sets: readonly Setting[]
  readonly deletes: readonly Bytes[]
  readonly adds: readonly Add[]
  readonly tallies?: readonly Tally[]
}

/** Outcome of a write. All keys that it set have `version`. `conflict`: a check failed. `limit`: a counter would exceed its limit. */
export type WriteResult =
  { readonly ok: true; readonly version: bigint } | { readonly ok: false; readonly reason: 'conflict' | 'limit'; readonly key: Bytes }

/** An ordered, durable map. Storage errors are fatal: see `StoreFailure`. */
export interface Kv extends AsyncDisposable {
  /** Throws `StoreDamaged` for a row that damage may hide. */
  get(key: Bytes): Promise<Entry | undefined>
  getMany(keys: readonly Bytes[]): Promise<(Entry | undefined)[]>
  range(range: Range): AsyncIterable<Entry>
  /** Returns the value of a counter; 0 if nothing was added. */
  counter(key: Bytes): Promise<number>
  /** Returns the values of many counters in their order, with one read. */
  counters(keys: readonly Bytes[]): Promise<number[]>
  /** Resolves when the write is durable (fsynced), or with the reason for its refusal. */
  write(write: Write): Promise<WriteResult>
}

/**
 * Storage failed. After a failed write, the process must stop accepting mail at once and end, because later acknowledgements could be lost.
 * `key` names a value that cannot be read. If the outcome of a write is unknown, the next start may find it.
 */
export class StoreFailure extends Error {
  override readonly name: string = 'StoreFailure'
  readonly key: Bytes | undefined
  readonly isUndecided: boolean

  constructor(message: string, options: { readonly cause?: unknown; readonly key?: Bytes; readonly isUndecided?: boolean } = {}) {
    super(message, options)
    this.key = options.key
    this.isUndecided = options.isUndecided ?? false
  }
}

/** Stored data is damaged and cannot be read or trusted. Writing continues. */
export class StoreDamaged extends StoreFailure {}

/** The storage of large values is unreachable: nothing was read or written. A repetition may succeed later, and the process continues. */
export class StoreAway extends Error {
  override readonly name = 'StoreAway'
}

/** Another process uses the data folder, or it cannot be opened. The message gives the next step. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** Another process has opened the data folder. */
export class StoreInUse extends StoreUnavailable {
  readonly lockFile: string

  /** `holder`: the process, such as `node (pid 812)`. */
  constructor(folder: string, lockFile: string, holder = 'another Postern process', options: { readonly cause?: unknown } = {}) {
    super(`The data folder ${folder} is in use by ${holder}. Stop it, or set POSTERN_DATA_DIR to another folder.`, options)
    this.lockFile = lockFile
  }
}

/** The store is damaged and was not opened. `problems` has a sentence for each problem. */
export class DamagedFolder extends StoreUnavailable {
  readonly problems: readonly string[]

  constructor(folder: string, problems: readonly string[], options: { readonly cause?: unknown } = {}) {
    const more = problems.length > 1 ? ` ${problems.length - 1} more problems: "postern verify" names them.` : ''
    super(`The store in ${folder} is damaged. ${problems[0]}${more} Restore the last good backup.`, options)
    this.problems = problems
  }
}

/** Disk space of content that is not accepted yet. */
export interface DraftRoom {
  /** Reserves bytes for an owner before they are written. Throws if there is no room. */
  take(owner: string, bytes: number): void
  /** Releases bytes whose content was accepted or deleted. */
  release(owner: string, bytes: number): void
  /** Reports deleted bytes, which stay on disk until the store collects them. */
  removed(bytes: number): void
}

export const unboundedRoom: DraftRoom = { take() {}, release() {}, removed() {} }
