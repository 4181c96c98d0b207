/** The ordered map of a daemon: `Kv` with the maintenance functions of an engine. */
import type { Daemons } from '../daemons/daemons.ts'
import type { Kv } from '../kv.ts'
import type { StoreSnapshot } from './snapshot.ts'

/** Pauses the work after each share of it, so that other work can proceed. */
export type Rest = () => Promise<void> | void

/** A damage, described in one sentence. */
export interface Damage {
  readonly sentence: string
  /** The damaged file is no longer in use, but rows from it may still be wrong. */
  readonly isGone: boolean
  /** The damage is in a large value. Each read compares large values with their checksums. */
  readonly isOfValue?: true
}

export interface StoreKv extends Kv {
  /** All daemons that share the store. */
  readonly daemons: Daemons
  /** Number of writes that wait for a group. If it stays high, the storage is too slow. */
  readonly waitingWrites: number
  /** Numbers of group commits that were acknowledged and then lost, although later groups exist. */
  readonly missingGroups: readonly number[]
  /** Damage found until now. */
  readonly damage: readonly Damage[]
  /** Sentences about damage that was repaired when the store was opened. */
  readonly mended: readonly string[]
  /** Compares the local files of this process with their checksums. Returns all damage except damage of large values. */
  check(rest: Rest): Promise<readonly Damage[]>
  /** Reads all local large values of this process. Returns all damage. */
  checkValues(rest: Rest): Promise<readonly Damage[]>
  /** Frees space of deleted values. Returns the number of freed segments or objects. */
  collect(): Promise<number>
  /**
   * Returns the whole store at one point in time; writes continue. Rows of versions up to `since` may come without their values. Dispose it
   * after use.
   */
  snapshot(since?: bigint): StoreSnapshot | Promise<StoreSnapshot>
  /** Completes all accepted writes, then closes the storage. Later writes are refused. */
  [Symbol.asyncDispose](): Promise<void>
}
