/** The ordered map as a daemon keeps it: what an engine does beside reading and writing. */
import type { Daemons } from '../daemons/daemons.ts'
import type { Kv } from '../kv.ts'
import type { StoreSnapshot } from './snapshot.ts'

export interface StoreKv extends Kv {
  /** All daemons at the store. */
  readonly daemons: Daemons
  /** Writes that wait for the next group; many of them mean that the medium cannot keep up. */
  readonly waitingWrites: number
  /** Numbers of group commits that are missing although later ones were there: what was acknowledged was lost. */
  readonly missingGroups: readonly number[]
  /** Frees space in which little lives. Returns how many pieces of it were freed. */
  collect(): Promise<number>
  /** Everything as of one moment; writers go on. Rows of versions up to `since` may come without their values. To be disposed. */
  snapshot(since?: bigint): StoreSnapshot | Promise<StoreSnapshot>
  /** Finishes what was written, then lets go of the medium. Later writes are refused. */
  [Symbol.asyncDispose](): Promise<void>
}
