/** Number of recent tries, counted together by all daemons at a store. */

export interface TryWindow {
  readonly windowMs: number
  /** Largest number of tries within the window. Only the latest tries of a key are stored. */
  readonly most: number
}

/** State before a try. */
export interface Tried {
  /** Tries within the window that ends now. */
  readonly tries: number
  /** Milliseconds until the oldest try leaves the window; 0 without tries. */
  readonly waitMs: number
}

export interface SharedTries {
  /** Counts a try if there are fewer than `most`, or with `always`. `key` identifies the subject and the client. */
  add(key: string, window: TryWindow, always: boolean): Promise<Tried>
  look(key: string, window: TryWindow): Promise<Tried>
  clear(key: string): Promise<void>
}
