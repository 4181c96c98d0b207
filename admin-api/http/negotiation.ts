/** Content negotiation (RFC 9110 §12.5.1): a page for browsers, JSON for programs. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Refusal } from '#core/refusals.ts'
import { raw, type Answer } from '../operation/answer.ts'
import type { ErrorRenderer } from '../operation/operation.ts'
import { envelope } from './rendering.ts'

/** Makes caches store both variants separately. */
export const varies = { vary: 'Accept' } as const

/** Whether the client prefers HTML to JSON. Returns false without `Accept`, with only a wildcard, and for equal quality values. */
export function prefersPage({ accept = '' }: IncomingHttpHeaders): boolean {
  const ranges = rangesOf(accept)
  return quality(ranges, 'text/html') > quality(ranges, 'application/json')
}

/** Whether the client accepts the type. Without `Accept`, every type is accepted. */
export const accepts = ({ accept = '' }: IncomingHttpHeaders, type: string): boolean =>
  accept.trim() === '' || quality(rangesOf(accept), type) > 0

const rangesOf = (accept: string): readonly MediaRange[] => accept.split(',', maxRanges).map(readRange)

const maxRanges = 50

interface MediaRange {
  readonly type: string
  readonly quality: number
}

function readRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  const value = weight === undefined ? 1 : Number(weight)
  return { type, quality: value >= 0 && value <= 1 ? value : 0 }
}

/** Returns the quality of the most specific matching range. */
function quality(ranges: readonly MediaRange[], type: string): number {
  for (const wanted of [type, `${type.split('/')[0]}/*`, '*/*']) {
    const range = ranges.find((one) => one.type === wanted)
    if (range) return range.quality
  }
  return 0
}

/** Renders refusals as a page for browsers and as the error envelope for programs. */
export const negotiatedRefusal =
  (page: (refusal: Refusal, headers: IncomingHttpHeaders) => Answer): ErrorRenderer =>
  (refusal, headers) => {
    const { retryAfterSeconds } = refusal
    const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }
    if (!prefersPage(headers)) return raw(envelope(refusal), { contentType: 'application/json', headers: { ...varies, ...retry } })
    const { body, contentType, headers: own } = page(refusal, headers)
    const vary = [varies.vary, own?.['vary']].filter((part) => part !== undefined).join(', ')
    return raw(body, { contentType, headers: { ...own, vary } })
  }
