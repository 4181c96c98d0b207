/** How often something was tried lately, counted once for all daemons that share a store. */

export interface TryWindow {
  readonly windowMs: number
  /** So many are counted within it; of each key the latest are kept. */
  readonly most: number
}

/** As it was before a try. */
export interface Tried {
  /** Tries within the window that ends now. */
  readonly tries: number
  /** Milliseconds until the oldest of them leaves the window; 0 without one. */
  readonly waitMs: number
}

export interface SharedTries {
  /** Counts one where there were fewer than `most`, or `always`. `key` names what is tried, and who tries. */
  add(key: string, window: TryWindow, always: boolean): Promise<Tried>
  look(key: string, window: TryWindow): Promise<Tried>
  clear(key: string): Promise<void>
}
