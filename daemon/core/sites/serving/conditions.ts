/** Request headers that select a representation: encodings, validators and ranges (RFC 9110 §12.5.3, §13, §14). Pure. */
import type { SiteBlob } from '../site.ts'

/** Returns the best available encoding that the client accepts; undefined for the uncompressed octets. */
export function acceptedEncoding(
  header: string | undefined,
  { brotli, gzip }: Pick<SiteBlob, 'brotli' | 'gzip'>,
): 'br' | 'gzip' | undefined {
  if (header === undefined) return undefined
  if (brotli && takes(header, 'br')) return 'br'
  return gzip && takes(header, 'gzip') ? 'gzip' : undefined
}

function takes(header: string, encoding: string): boolean {
  return header.split(',').some((part) => {
    const [name = '', ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/)
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}

/** Weak comparison (RFC 9110 §13.1.2). */
export function isNotModified(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  if (header === tag || header.trim() === '*') return true
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag)
}

/** Returns one range of octets; undefined to send the whole file, also for several ranges. `end` is exclusive. */
export function rangeOf(header: string | undefined, size: number): { readonly start: number; readonly end: number } | 'beyond' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const count = Math.min(Number(last), size)
    return count === 0 ? 'beyond' : { start: size - count, end: size }
  }
  const start = Number(first)
  const end = last === '' ? size : Math.min(Number(last) + 1, size)
  if (last !== '' && Number(last) < start) return undefined
  return start >= size ? 'beyond' : { start, end }
}
