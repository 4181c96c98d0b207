/** The media types that a client accepts, and which answer it gets: a page for browsers, JSON for programs. RFC 9110 §12.5.1. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Refusal } from '#core/refusals.ts'
import { raw, type Answer } from '../operation/answer.ts'
import type { ErrorRenderer } from '../operation/operation.ts'
import { envelope } from './rendering.ts'

/** Caches keep the two answers apart. */
export const varies = { vary: 'Accept' } as const

/** Whether the client prefers HTML to JSON. Without `Accept`, with a wildcard alone, and where both are equal, JSON it is. */
export function prefersPage({ accept = '' }: IncomingHttpHeaders): boolean {
  const ranges = rangesOf(accept)
  return quality(ranges, 'text/html') > quality(ranges, 'application/json')
}

/** Whether the client accepts the type. Without `Accept` it accepts every type. */
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

/** The most specific range that fits decides. */
function quality(ranges: readonly MediaRange[], type: string): number {
  for (const wanted of [type, `${type.split('/')[0]}/*`, '*/*']) {
    const range = ranges.find((one) => one.type === wanted)
    if (range) return range.quality
  }
  return 0
}

/** Refusals as a page for browsers and as the error envelope for programs. */
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
