/**
 * The interface of one daemon to the other daemons at a store: signals between them, and the distribution of work that only one may do at a
 * time. Signals may get lost and only save time. Everything that must not be missed is in the store.
 */

import type { SharedTries } from './tries.ts'

/** Work that one daemon at a time does for all daemons. */
export interface SharedWork {
  /** The same name in every daemon. */
  readonly name: string
  /** Starts the work with the items in the store. No other daemon does it now. */
  readonly start: () => Promise<void> | void
  /** Looks in the store for items without a signal. */
  readonly look?: () => void
  /** Names for items of this work in writes; see `Change.schedule`. */
  readonly does?: readonly string[]
  /** Stops the work. Another daemon may start it when this resolves. */
  readonly stop: () => Promise<unknown> | void
  /**
   * The work may move to another daemon while this one runs, and come back. If the stop takes too long, the work starts again here and
   * continues. Other work stays here until the daemon ends.
   */
  readonly moves?: true
}

export interface Daemons {
  /** No other daemon can use this store. */
  readonly isAlone: boolean

  /** Identifies this daemon among those that share the store; empty for the only daemon. */
  readonly id: string

  /** Returns whether the daemon of this id was alive at the last look. */
  isRunning(id: string): boolean

  /** Sends items to all other daemons as soon as possible. Combines equal items that are not sent yet. Never waits and never throws. */
  publish(topic: string, items: readonly string[]): void

  /** Resolves when no other daemon can act on old data: it received the items, has ended, or checks the store first. */
  publishToAll(topic: string, items: readonly string[]): Promise<void>

  /**
   * Makes all other daemons do the work that they registered with `onAsked`. Resolves when each daemon has done it for each item, or can
   * write nothing. Throws if this daemon stops first.
   */
  askOthers(topic: string, items: readonly string[]): Promise<void>

  /** Registers work for requests of other daemons. After a failure, the other daemon asks again. */
  onAsked(topic: string, act: (items: readonly string[]) => Promise<unknown>): void

  /** Receives items that other daemons publish. */
  subscribe(topic: string, listener: (items: readonly string[]) => void): void

  /** Is called when signals may be lost, for example after a lost connection or the end of a daemon. */
  onGap(listener: () => void): void

  /** Is called regularly to look for changes in the store. `isCurrent` stays true only while it succeeds. */
  onBeat(look: () => Promise<void>): void

  /** Cached data is at most `staleMs` old. */
  isCurrent(): boolean

  /** Tries that all daemons count together. Undefined if this daemon counts alone. */
  readonly tries: SharedTries | undefined

  /** Time that all daemons share, in milliseconds since the epoch. Undefined for the only daemon. */
  now(): number | undefined

  /**
   * Does the work whenever this daemon holds its lease. A sole daemon resolves when the work has started; other daemons resolve at once.
   */
  share(work: SharedWork): Promise<void>

  /** Stops the work, if this daemon does it, and leaves it to other daemons permanently. */
  leave(name: string): Promise<void>

  /** Returns whether this daemon does the work now. */
  holds(name: string): boolean

  /**
   * Returns the place of work for items that writes schedule under this name: this daemon, at most one other daemon, or each daemon for its
   * own writes.
   */
  placeOf(scheduled: string): 'here' | 'elsewhere' | 'everywhere'

  /** Calls `here` if this daemon does the work. Otherwise makes the working daemon look for new items. */
  wake(name: string, here: () => void): void

  /** Returns whether any other daemon does shared work. For some seconds it is also true for a killed daemon. */
  doOthersWork(): Promise<boolean>

  /** Runs work of a start while no other daemon runs such work. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>
}

/** After this time without a look into the store, in milliseconds, a daemon must not rely on cached data. */
export const staleMs = 3000
