/** Sends a delivery once and returns the receiver's response. */
import type { Core } from '../../core.ts'
import { jsonHeaders, type Post, type PostLimits, type PostOutcome } from '../../outbound/post.ts'
import { says, unsaid } from '../formats/formats.ts'
import { requestOf, type RequestTarget, type SentDelivery } from './request.ts'

export interface SenderOptions extends Core {
  readonly post: Post
  /** Public address of the service, used by some formats. */
  readonly baseUrl: string
}

/** The result of an attempt. */
export interface Sent {
  readonly at: number
  readonly milliseconds: number
  /** Status of the response; null without a response. */
  readonly statusCode: number | null
  /** The error in one sentence; null for a status from 200 to 299. */
  readonly error: string | null
  /** Start of the response body, as text. */
  readonly answer: string | null
  /** Host of the target, with its port if that is not 443; absent if nothing was sent. */
  readonly host?: string
  /** Value of the header `X-Service-Signature`; absent if nothing was sent. */
  readonly signature?: string | undefined
  /** We aborted the request, so the result does not reflect the receiver. */
  readonly isOurs: boolean
  /** The sent body, in the endpoint's format; absent if nothing was sent. */
  readonly body?: string
  /** A retry cannot succeed. */
  readonly isFinal?: true
  /** The receiver wants no request for this time. */
  readonly retryAfterMs?: number
}

const limits: PostLimits = { deadlineMs: 10_000, maxAnswerBytes: 4096 }

export class Sender {
  readonly #options: SenderOptions

  constructor(options: SenderOptions) {
    this.#options = options
  }

  async send(target: RequestTarget, delivery: SentDelivery, signal: AbortSignal): Promise<Sent> {
    const { clock, post } = this.#options
    const at = clock.now()
    const endpoint = 'write' in target ? undefined : target.endpoint
    const format = endpoint?.format
    if (endpoint && !says(format, delivery.eventType))
      return { ...unsent(at, unsaid(format ?? 'native', delivery.eventType)), isFinal: true }
    const request = requestOf(this.#options, target, delivery, at)
    if (request === undefined) return unsent(at, 'The secret of the endpoint cannot be decrypted with the current master key; rotate it.')
    const { body, url } = request
    const headers = { ...jsonHeaders, ...request.headers }
    const begun = clock.monotonic()
    const outcome = await post({ url, headers, body: Buffer.from(body) }, limits, signal)
    const milliseconds = Math.round(clock.monotonic() - begun)
    const end = toEnd(outcome, target)
    return { at, milliseconds, host: new URL(url).host, signature: request.headers['x-service-signature'], ...end, body }
  }
}

/** Returns the result of an attempt that failed without a connection. */
export const unsent = (at: number, error: string): Sent => ({ at, milliseconds: 0, statusCode: null, error, answer: null, isOurs: false })

function toEnd(
  outcome: PostOutcome,
  { redact = (text) => text, retryAfterMs }: RequestTarget,
): Pick<Sent, 'statusCode' | 'error' | 'answer' | 'isOurs' | 'retryAfterMs'> {
  if ('problem' in outcome) return { statusCode: null, error: redact(outcome.problem), answer: null, isOurs: outcome.isOurs }
  const answer = textOf(outcome.answer)
  const error = complaintOf(outcome.status)
  const wait = error === null ? undefined : retryAfterMs?.(answer)
  return { statusCode: outcome.status, error, answer: redact(answer), isOurs: false, ...(wait !== undefined && { retryAfterMs: wait }) }
}

function complaintOf(status: number): string | null {
  if (status >= 200 && status <= 299) return null
  if (status >= 300 && status <= 399)
    return `The receiver returned status ${status}: redirects are not followed; set target_url to the final address.`
  return `The receiver returned status ${status}.`
}

/** Decodes the response as text. Invalid bytes become U+FFFD, and a character cut at the end is dropped. */
const textOf = (bytes: Uint8Array): string =>
  new TextDecoder()
    .decode(bytes, { stream: true })
    .replaceAll('\r\n', '\n')
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
