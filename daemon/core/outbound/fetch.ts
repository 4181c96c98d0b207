/** Fetches documents from the public internet: https only, checked addresses, no redirects, limited time and size. */

export interface FetchLimits {
  /** Milliseconds for the whole request. */
  readonly deadlineMs: number
  /** Maximum bytes of the document. */
  readonly maxBytes: number
}

export interface FetchedDocument {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Resolves with any response. Throws `FetchFailed` without a complete response within the limits. */
export type Fetch = (url: string, limits: FetchLimits) => Promise<FetchedDocument>

/** Reason of a failed fetch, without details of the local network. */
export class FetchFailed extends Error {
  override readonly name = 'FetchFailed'
}
