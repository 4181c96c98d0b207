/** Results and refusals as HTTP: status, headers and the error envelope `{error: {code, message, next_action, details?}}`. */
import type { CorsReader } from '../credentials/credentials.ts'
import { Readable } from 'node:stream'
import { FastResponse } from 'srvx'
import { Refusal, refusals } from '#core/refusals.ts'
import { Answer, type AnswerBody } from '../operation/answer.ts'
import { errorEnvelope } from '../wire/fields/error.ts'

/** What every answer of one request has in common. */
export interface AnswerFrame {
  readonly requestId: string
  /** The connection ends after this answer. */
  readonly closes: boolean
  /** The answer is for one caller: it must not be cached. */
  readonly isPrivate: boolean
  /** HEAD: the headers of the answer without its body. */
  readonly headOnly: boolean
  /** The service is reached by https alone. */
  readonly isHttps: boolean
  /** Scripts of any web page may read the answer. */
  readonly allowsAnyOrigin: boolean
  /** The answer depends on the page that asks. */
  readonly cors?: CorsReader | undefined
}

type HeaderList = [string, string][]

/** RFC 6797 §6.1: for a year. Not for hosts below this one, which may be others'. */
const strictTransport: [string, string] = ['strict-transport-security', 'max-age=31536000']

/** For scripts and for the preflight that browsers send before: no cookies, so nothing is given away by naming every origin. */
const anyOriginHeaders: Readonly<HeaderList> = [
  ['access-control-allow-origin', '*'],
  ['access-control-allow-methods', 'GET, POST'],
  ['access-control-allow-headers', 'authorization, content-type, mcp-protocol-version'],
  ['access-control-expose-headers', 'www-authenticate, retry-after'],
  ['access-control-max-age', '86400'],
]

/** A good answer without a body. */
export function renderEmpty(status: number, frame: AnswerFrame): Response {
  return new FastResponse(null, { status, headers: frameHeaders(frame) })
}

/** A good answer of JSON. */
export function renderJson(wire: unknown, status: number, frame: AnswerFrame): Response {
  return renderText(JSON.stringify(wire), status, frameHeaders(frame), frame)
}

/** An answer with a status, headers or bytes of its own. */
export function renderAnswer(answer: Answer, defaultStatus: number, frame: AnswerFrame): Response {
  const headers = joinedHeaders(frameHeaders(frame), answer.headers)
  const status = answer.status ?? defaultStatus
  if (status === 304) return new FastResponse(null, { status, headers })
  if (typeof answer.body === 'string') return renderText(answer.body, status, headers, frame, answer.contentType)
  headers.push(['content-type', answer.contentType])
  if (answer.body instanceof Uint8Array) headers.push(['content-length', String(answer.body.byteLength)])
  // Node's streams are served as they are, although the types of the web know nothing of them.
  if (!frame.headOnly) return new FastResponse(answer.body as ReadableStream, { status, headers })
  discard(answer.body)
  return new FastResponse(null, { status, headers })
}

/** Lists (RFC 9110 §5.3): each layer adds its values to them. */
const listHeaders: ReadonlySet<string> = new Set(['vary', 'link'])

/** The headers of the answer in place of those of the frame; lists have the values of both. */
function joinedHeaders(frame: HeaderList, own: Readonly<Record<string, string>>): HeaderList {
  const kept = frame.filter(([name]) => own[name] === undefined)
  const joined = Object.entries(own).map(([name, value]): [string, string] => {
    const values = listHeaders.has(name) ? frame.flatMap(([other, given]) => (other === name ? [given] : [])) : []
    return [name, [...values, value].join(', ')]
  })
  return [...kept, ...joined]
}

/** A refusal by its row of the table, with the challenge that belongs to it. Spec "Errors". */
export function renderRefusal(refusal: Refusal, challenge: string | undefined, frame: AnswerFrame): Response {
  const headers = frameHeaders(frame)
  if (challenge !== undefined) headers.push(['www-authenticate', challenge])
  if (refusal.retryAfterSeconds !== undefined) headers.push(['retry-after', String(Math.ceil(refusal.retryAfterSeconds))])
  const allow = refusal.code === 'method_not_allowed' ? refusal.details?.['allow'] : undefined
  if (Array.isArray(allow)) headers.push(['allow', allow.join(', ')])
  return renderText(envelope(refusal), refusals[refusal.code].http, headers, frame)
}

/** The error envelope as JSON text. */
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

/** One origin, and never cookies; caches keep the answers to different pages apart. */
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
