/** The ordered map as a daemon keeps it: what an engine does beside reading and writing. */
import type { Daemons } from '../daemons/daemons.ts'
import type { Kv } from '../kv.ts'
import type { StoreSnapshot } from './snapshot.ts'

/** Waits when the work so far was enough for a while. */
export type Rest = () => Promise<void> | void

/** Something damaged, in one sentence. */
export interface Damage {
  readonly sentence: string
  /** What was damaged is not in use any more, and its rows may be wrong all the same. */
  readonly isGone: boolean
  /** It is of a large value, which every reader compares with its checksum. */
  readonly isOfValue?: true
}

export interface StoreKv extends Kv {
  /** All daemons at the store. */
  readonly daemons: Daemons
  /** Writes that wait for the next group; many of them mean that the medium cannot keep up. */
  readonly waitingWrites: number
  /** Numbers of group commits that are missing although later ones were there: what was acknowledged was lost. */
  readonly missingGroups: readonly number[]
  /** Damage found so far. */
  readonly damage: readonly Damage[]
  /** What the opening has mended, in sentences. */
  readonly mended: readonly string[]
  /** Compares the files that this process keeps on its disk with their checksums. Returns all damage but that of large values. */
  check(rest: Rest): Promise<readonly Damage[]>
  /** Reads all large values that this process keeps on its disk. Returns all damage. */
  checkValues(rest: Rest): Promise<readonly Damage[]>
  /** Frees space in which little lives. Returns how many pieces of it were freed. */
  collect(): Promise<number>
  /** Everything as of one moment; writers go on. Rows of versions up to `since` may come without their values. To be disposed. */
  snapshot(since?: bigint): StoreSnapshot | Promise<StoreSnapshot>
  /** Finishes what was written, then lets go of the medium. Later writes are refused. */
  [Symbol.asyncDispose](): Promise<void>
}
