/**
 * The store's one interface: an ordered map from byte keys to byte values with conditional atomic writes,
 * shaped like FoundationDB's. Everything above it works on any implementation that passes the contract suite.
 */
export type Bytes = Uint8Array

/** Octets of all pieces. */
export function lengthOf(pieces: readonly Bytes[]): number {
  let length = 0
  for (const piece of pieces) length += piece.length
  return length
}

/** Pieces joined; a single piece is not copied. */
export const joined = (pieces: readonly Bytes[]): Bytes => (pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces))

/** A stored value; `version` changes with every write of the key and never repeats. */
export interface Entry {
  readonly key: Bytes
  readonly value: Bytes
  readonly version: bigint
}

/** Keys from `start` (inclusive) to `end` (exclusive) in byte order, or backwards. */
export interface Range {
  readonly start: Bytes
  readonly end: Bytes
  readonly limit?: number
  readonly reverse?: boolean
  /** Values may come empty, which spares those that stand apart from being read. */
  readonly keysOnly?: boolean
  /**
   * Throws `StoreDamaged` for rows that damage may hide. `shown`: for lists that people read, also while writes are lost of which nothing
   * tells the rows.
   */
  readonly whole?: boolean | 'shown'
}

/** Holds when the key still has this version; `undefined` means the key must be absent, and must be set by the same write. */
export interface Check {
  readonly key: Bytes
  readonly version: bigint | undefined
}

/**
 * A change of a counter, applied at commit in the order of arrival, so that hot counters never conflict.
 * With `limit`, the whole write fails when the counter would pass it (a negative delta never fails).
 */
export interface Add {
  readonly key: Bytes
  readonly delta: number
  readonly limit?: number
}

/**
 * Adds to counts by name that share one value, which `get` and `range` show: see `tally.ts`. Applied like `Add`, and never refused; a
 * key of tallies is not set or checked otherwise.
 */
export interface Tally {
  readonly key: Bytes
  readonly names: readonly string[]
  /** Added to each of the names; 1 by default. */
  readonly delta?: number
  /** The value keeps so many subjects at most. */
  readonly maxSubjects?: number
}

/** A value in pieces is stored as one. */
export interface Setting {
  readonly key: Bytes
  readonly value: Bytes | readonly Bytes[]
  /** The writer knows that nothing has ever had this key. */
  readonly isNew?: true | undefined
  /** It is not expected to be read soon. */
  readonly isCold?: true | undefined
}

/**
 * All of it happens, or nothing: when a check fails or a counter would pass its limit. Deletes come before sets, so a key in
 * both is set. A key holds a value or a counter, never both: `get` and `range` show values only, `deletes` takes either.
 */
export interface Write {
  readonly checks: readonly Check[]
  readonly sets: readonly Setting[]
  readonly deletes: readonly Bytes[]
  readonly adds: readonly Add[]
  readonly tallies?: readonly Tally[]
}

/** The outcome of a write; `version` is that of all keys it set. `conflict`: a check failed; `limit`: a counter would pass its limit. */
export type WriteResult =
  { readonly ok: true; readonly version: bigint } | { readonly ok: false; readonly reason: 'conflict' | 'limit'; readonly key: Bytes }

/** An ordered, durable map. Errors of the medium are fatal: see `StoreFailure`. */
export interface Kv extends AsyncDisposable {
  /** Throws `StoreDamaged` for a row that damage may hide. */
  get(key: Bytes): Promise<Entry | undefined>
  getMany(keys: readonly Bytes[]): Promise<(Entry | undefined)[]>
  range(range: Range): AsyncIterable<Entry>
  /** The counter's value, 0 when it was never added to. */
  counter(key: Bytes): Promise<number>
  /** The values of many counters, each in its place; one look for all of them. */
  counters(keys: readonly Bytes[]): Promise<number[]>
  /** Resolves once durable (fsynced), or with the reason why nothing was written. */
  write(write: Write): Promise<WriteResult>
}

/**
 * The medium failed. When a write failed, the process must stop accepting at once and end: what was acknowledged later could
 * be lost. When one value cannot be read, `key` names it. An undecided write failed, and the next start may find it.
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

/** What was stored is damaged, and cannot be read or relied on. Writing goes on. */
export class StoreDamaged extends StoreFailure {}

/** Where large values stand is away: nothing was written or read. The same again may succeed later, and the process goes on. */
export class StoreAway extends Error {
  override readonly name = 'StoreAway'
}

/** Another process owns the data folder, or it cannot be opened; the message says what to do. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** Another process has the data folder open. */
export class StoreInUse extends StoreUnavailable {
  readonly lockFile: string

  /** `holder`: the process, such as `node (pid 812)`. */
  constructor(folder: string, lockFile: string, holder = 'another Postern process', options: { readonly cause?: unknown } = {}) {
    super(`The data folder ${folder} is in use by ${holder}. Stop it, or set POSTERN_DATA_DIR to another folder.`, options)
    this.lockFile = lockFile
  }
}

/** The store is damaged and is not opened; `problems` are one sentence each. */
export class DamagedFolder extends StoreUnavailable {
  readonly problems: readonly string[]

  constructor(folder: string, problems: readonly string[], options: { readonly cause?: unknown } = {}) {
    const more = problems.length > 1 ? ` ${problems.length - 1} more problems: "postern verify" names them.` : ''
    super(`The store in ${folder} is damaged. ${problems[0]}${more} Restore the last good backup.`, options)
    this.problems = problems
  }
}

/** What content that is not accepted yet takes of the disk. */
export interface DraftRoom {
  /** Counts bytes that are about to be written for an owner. Throws when there is no room for them. */
  take(owner: string, bytes: number): void
  /** Their content is accepted, or is none any more. */
  release(owner: string, bytes: number): void
  /** They were deleted. Their space comes back when the store collects it. */
  removed(bytes: number): void
}

export const unboundedRoom: DraftRoom = { take() {}, release() {}, removed() {} }
