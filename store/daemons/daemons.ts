/**
 * Several daemons on one store, as one of them sees the others: signals between them, and who does what only one may do at a time.
 * What must not be missed stands in the store; signals only make it quick.
 */

import type { SharedTries } from './tries.ts'

/** Work that one daemon at a time does for all. */
export interface SharedWork {
  /** The same in every daemon. */
  readonly name: string
  /** No other daemon does it now: takes up what stands in the store. */
  readonly start: () => Promise<void> | void
  /** Something may stand in the store of which no signal came. */
  readonly look?: () => void
  /** What writes schedule for it; see `Change.schedule`. */
  readonly does?: readonly string[]
  /** Ends it; another daemon may have it once this resolves. */
  readonly stop: () => Promise<unknown> | void
  /**
   * It may go to another daemon while this one lives, and come back. When its end takes long, it is started again before that: it goes on
   * with what is under way. What does not move is done here until the daemon ends.
   */
  readonly moves?: true
}

export interface Daemons {
  /** No other daemon can be at this store. */
  readonly isAlone: boolean

  /** Notifies all others, as soon as this can be; what is published again before it is sent is sent once. Never waits, never throws. */
  publish(topic: string, items: readonly string[]): void

  /** Resolves when no other daemon can act any more as if it did not know: it was notified, or has ended, or looks into the store first. */
  publishToAll(topic: string, items: readonly string[]): Promise<void>

  /**
   * Has all others do what they have given to `onAsked` for this; resolves when each has done it for each of the items, or can write
   * nothing any more. Throws when this daemon stops meanwhile.
   */
  askOthers(topic: string, items: readonly string[]): Promise<void>

  /** Does this whenever another one asks; what fails is asked for again. */
  onAsked(topic: string, act: (items: readonly string[]) => Promise<unknown>): void

  /** Is notified of what others publish. */
  subscribe(topic: string, listener: (items: readonly string[]) => void): void

  /** Is notified when signals may have been lost, as after a connection that broke off or the end of a daemon. */
  onGap(listener: () => void): void

  /** Done regularly: it looks for what may have changed, and `isCurrent` goes on only while it succeeds. */
  onBeat(look: () => Promise<void>): void

  /** What is in memory is as the others left it less than `staleMs` ago. */
  isCurrent(): boolean

  /** Tries that are counted once for all daemons; undefined where this one counts for itself. */
  readonly tries: SharedTries | undefined

  /** The time that all daemons have, in milliseconds since the epoch; undefined where there is no other. */
  now(): number | undefined

  /** Does the work whenever its turn is here; resolves when that has begun where no other daemon can be, and at once otherwise. */
  share(work: SharedWork): Promise<void>

  /** Does it no more: stops it, whether or not it is done here, and leaves it to the others. */
  leave(name: string): Promise<void>

  /** Whether the work is done here now. */
  holds(name: string): boolean

  /** Where what writes schedule under this name is done: by this daemon, by another one or none, or by each for itself. */
  placeOf(scheduled: string): 'here' | 'elsewhere' | 'everywhere'

  /** Calls `here` where the work is done here; otherwise has the daemon that does it look for what there is to do. */
  wake(name: string, here: () => void): void

  /** Whether any other daemon does work now that they share: it has started. One that was killed seems to for some seconds. */
  doOthersWork(): Promise<boolean>

  /** While this runs, no other daemon runs what it gave to this: for what is done once at a start. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>
}

/** After so long without a look into the store, in milliseconds, a daemon knows nothing for certain. */
export const staleMs = 3000
