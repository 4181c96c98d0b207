/** A message to a receiver outside: addresses checked at connecting, verified TLS, no redirects, bounded in time and size. */

export interface PostRequest {
  /** `https:`; `http:` reaches only what the operator has allowed. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Of every message in JSON. */
export const jsonHeaders = { 'content-type': 'application/json', accept: '*/*', 'user-agent': 'Postern' } as const

export interface PostLimits {
  /** Milliseconds for all of it. */
  readonly deadlineMs: number
  /** Bytes of the answer's body that are read; of a longer one the beginning is taken. */
  readonly maxAnswerBytes: number
}

/** The answer, whose status line counts however its body ends; or why there is none, in one sentence without details of the network. */
export type PostOutcome = { readonly status: number; readonly answer: Uint8Array } | { readonly problem: string; readonly isOurs: boolean }

/** `isOurs` says that the signal ended it. Never throws for what the outside does. */
export type Post = (request: PostRequest, limits: PostLimits, signal: AbortSignal) => Promise<PostOutcome>
