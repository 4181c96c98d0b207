/** Fetches an external file: checks addresses on connecting, follows no redirects, limits time and size. */

export interface GetLimits {
  /** Milliseconds for the whole request. */
  readonly deadlineMs: number
  /** Maximum bytes; a larger file is refused. */
  readonly maxBytes: number
}

/** Resolves with the body of a response with status 200, otherwise undefined. Never throws for external errors. */
export type GetBytes = (url: string, limits: GetLimits, signal: AbortSignal) => Promise<Uint8Array | undefined>
