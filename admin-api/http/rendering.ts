/** Renders results and refusals as HTTP: status, headers and the error envelope `{error: {code, message, next_action, details?}}`. */
import type { CorsReader } from '../credentials/credentials.ts'
import { Readable } from 'node:stream'
import { FastResponse } from 'srvx'
import { Refusal, refusals } from '#core/refusals.ts'
import { Answer, type AnswerBody } from '../operation/answer.ts'
import { errorEnvelope } from '../wire/fields/error.ts'

/** Facts shared by every response of a request. */
export interface AnswerFrame {
  readonly requestId: string
  /** The connection closes after this response. */
  readonly closes: boolean
  /** The response is for one caller and must not be cached. */
  readonly isPrivate: boolean
  /** HEAD: the headers of the response without its body. */
  readonly headOnly: boolean
  /** The public URL of the service is https. */
  readonly isHttps: boolean
  /** Scripts of any web page may read the response. */
  readonly allowsAnyOrigin: boolean
  /** The response depends on the calling page. */
  readonly cors?: CorsReader | undefined
}

type HeaderList = [string, string][]

/** RFC 6797 §6.1: for one year. Excludes subdomains, which may belong to others. */
const strictTransport: [string, string] = ['strict-transport-security', 'max-age=31536000']

/** For scripts and preflights. Requests with these headers use no cookies, so allowing every origin reveals nothing. */
const anyOriginHeaders: Readonly<HeaderList> = [
  ['access-control-allow-origin', '*'],
  ['access-control-allow-methods', 'GET, POST'],
  ['access-control-allow-headers', 'authorization, content-type, mcp-protocol-version'],
  ['access-control-expose-headers', 'www-authenticate, retry-after'],
  ['access-control-max-age', '86400'],
]

/** Renders a successful response without a body. */
export function renderEmpty(status: number, frame: AnswerFrame): Response {
  return new FastResponse(null, { status, headers: frameHeaders(frame) })
}

/** Renders a successful JSON response. */
export function renderJson(wire: unknown, status: number, frame: AnswerFrame): Response {
  return renderText(JSON.stringify(wire), status, frameHeaders(frame), frame)
}

/** Renders a response with custom status, headers or bytes. */
export function renderAnswer(answer: Answer, defaultStatus: number, frame: AnswerFrame): Response {
  const headers = joinedHeaders(frameHeaders(frame), answer.headers)
  const status = answer.status ?? defaultStatus
  if (status === 304) return new FastResponse(null, { status, headers })
  if (typeof answer.body === 'string') return renderText(answer.body, status, headers, frame, answer.contentType)
  headers.push(['content-type', answer.contentType])
  if (answer.body instanceof Uint8Array) headers.push(['content-length', String(answer.body.byteLength)])
  // The server accepts Node streams, although the type declares web streams.
  if (!frame.headOnly) return new FastResponse(answer.body as ReadableStream, { status, headers })
  discard(answer.body)
  return new FastResponse(null, { status, headers })
}

/** List headers (RFC 9110 §5.3); each layer adds values. */
const listHeaders: ReadonlySet<string> = new Set(['vary', 'link'])

/** Replaces headers of the frame by headers of the response; merges list headers. */
function joinedHeaders(frame: HeaderList, own: Readonly<Record<string, string>>): HeaderList {
  const kept = frame.filter(([name]) => own[name] === undefined)
  const joined = Object.entries(own).map(([name, value]): [string, string] => {
    const values = listHeaders.has(name) ? frame.flatMap(([other, given]) => (other === name ? [given] : [])) : []
    return [name, [...values, value].join(', ')]
  })
  return [...kept, ...joined]
}

/** Renders a refusal with the status of its code, and its challenge. Spec "Errors". */
export function renderRefusal(refusal: Refusal, challenge: string | undefined, frame: AnswerFrame): Response {
  const headers = frameHeaders(frame)
  if (challenge !== undefined) headers.push(['www-authenticate', challenge])
  if (refusal.retryAfterSeconds !== undefined) headers.push(['retry-after', String(Math.ceil(refusal.retryAfterSeconds))])
  const allow = refusal.code === 'method_not_allowed' ? refusal.details?.['allow'] : undefined
  if (Array.isArray(allow)) headers.push(['allow', allow.join(', ')])
  return renderText(envelope(refusal), refusals[refusal.code].http, headers, frame)
}

/** Returns the error envelope as JSON text. */
export const envelope = (refusal: Refusal): string => JSON.stringify(errorEnvelope.encode(refusal))

function renderText(text: string, status: number, headers: HeaderList, frame: AnswerFrame, contentType = 'application/json'): Response {
  headers.push(['content-type', contentType], ['content-length', String(Buffer.byteLength(text))])
  return new FastResponse(frame.headOnly ? null : text, { status, headers })
}

function frameHeaders(frame: AnswerFrame): HeaderList {
  const headers: HeaderList = [
    ['x-request-id', frame.requestId],
    ['x-content-type-options', 'nosniff'],
    ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
    ['referrer-policy', 'no-referrer'],
  ]
  if (frame.isHttps) headers.push(strictTransport)
  if (frame.isPrivate) headers.push(['cache-control', 'no-store'])
  if (frame.closes) headers.push(['connection', 'close'])
  if (frame.allowsAnyOrigin) headers.push(...anyOriginHeaders)
  if (frame.cors) headers.push(...corsHeaders(frame.cors))
  return headers
}

/** Allows one origin and no cookies; `Vary` separates cached responses by origin. */
function corsHeaders({ origin, requestHeaders }: CorsReader): HeaderList {
  const vary: HeaderList = [['vary', 'Origin']]
  if (origin === undefined) return vary
  return [
    ...vary,
    ['access-control-allow-origin', origin],
    ['access-control-allow-methods', 'POST'],
    ['access-control-allow-headers', requestHeaders.join(', ')],
    ['access-control-expose-headers', 'retry-after, x-request-id, idempotent-replayed, www-authenticate'],
    ['access-control-max-age', '7200'],
  ]
}

function discard(body: AnswerBody): void {
  if (body instanceof Readable) body.destroy()
  else if (body instanceof ReadableStream) void body.cancel()
}
