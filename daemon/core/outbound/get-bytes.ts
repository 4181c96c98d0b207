/** A file of others, fetched from addresses that are checked at connecting: no redirects, bounded in time and size. */

export interface GetLimits {
  /** Milliseconds for all of it. */
  readonly deadlineMs: number
  /** Bytes of the file; a longer one is none. */
  readonly maxBytes: number
}

/** The body of an answer with status 200; undefined for everything else. Never throws for what the outside does. */
export type GetBytes = (url: string, limits: GetLimits, signal: AbortSignal) => Promise<Uint8Array | undefined>
