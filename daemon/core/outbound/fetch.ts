/** Documents of others, fetched from the public internet: https only, addresses checked, no redirects, bounded in time and size. */

export interface FetchLimits {
  /** Milliseconds for all of it. */
  readonly deadlineMs: number
  /** Bytes of the document. */
  readonly maxBytes: number
}

export interface FetchedDocument {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Resolves with whatever was answered, and throws `FetchFailed` when there is no whole answer within the limits. */
export type Fetch = (url: string, limits: FetchLimits) => Promise<FetchedDocument>

/** Why there is no document, in words that reveal nothing of the network around the service. */
export class FetchFailed extends Error {
  override readonly name = 'FetchFailed'
}
