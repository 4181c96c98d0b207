/** HTTP POST to external receivers: checks addresses on connecting, verifies TLS, follows no redirects, limits time and size. */

export interface PostRequest {
  /** `https:`; `http:` only to addresses that the operator has allowed. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Headers of every JSON message. */
export const jsonHeaders = { 'content-type': 'application/json', accept: '*/*', 'user-agent': 'Postern' } as const

export interface PostLimits {
  /** Milliseconds for the whole request. */
  readonly deadlineMs: number
  /** Maximum bytes read of the response body; longer bodies are truncated. */
  readonly maxAnswerBytes: number
}

/** The response, which counts even if its body is incomplete; or one sentence with the problem, without network details. */
export type PostOutcome = { readonly status: number; readonly answer: Uint8Array } | { readonly problem: string; readonly isOurs: boolean }

/** `isOurs`: the signal aborted the request. Never throws for external errors. */
export type Post = (request: PostRequest, limits: PostLimits, signal: AbortSignal) => Promise<PostOutcome>
