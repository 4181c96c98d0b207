/** Parses JSON text: UTF-8 only (RFC 8259 §8.1), with limits, and with the position of a syntax error. */
import { isUtf8 } from 'node:buffer'
import { placeIn } from '#config/texts/text-place.ts'
import { invalid } from '#core/refusals.ts'
import { findJsonFault } from './json-fault.ts'

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const byteOrderMark = 0xfeff

/** Limits of a JSON text. */
export interface JsonLimits {
  /** Levels of nesting. */
  readonly maxDepth: number
  /** Number of all values: of fields, of list entries, and objects and lists. Validating a value costs many times more than parsing it. */
  readonly maxValues: number
}

/** Limits of request bodies, and of JSON in other parts of a request. */
export const usualJson: JsonLimits = { maxDepth: 32, maxValues: 50_000 }

/** The value, or the fault as text that follows the name of the body. */
export type JsonReading = { readonly value: unknown } | { readonly fault: string }

/**
 * Parses a request body. Throws `validation_failed` for bytes other than UTF-8, for text other than JSON (with line and column), and beyond
 * the limits. The limits are checked before any value is created.
 */
export function parseJsonBody(bytes: Buffer, limits: JsonLimits): unknown {
  const reading = parseJson(bytes, limits)
  if ('fault' in reading) throw invalid([{ path: 'body', message: reading.fault }])
  return reading.value
}

/** Parses JSON text without throwing. */
export function parseJson(bytes: Buffer, limits: JsonLimits): JsonReading {
  if (!isUtf8(bytes)) return { fault: 'must be UTF-8 text' }
  const beyond = faultBeyond(bytes, limits)
  if (beyond !== undefined) return { fault: beyond }
  const decoded = bytes.toString()
  const text = decoded.charCodeAt(0) === byteOrderMark ? decoded.slice(1) : decoded
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { fault: describeFault(text) }
  }
}

function describeFault(text: string): string {
  const { offset, expected } = findJsonFault(text)
  const { line, column } = placeIn(text, offset)
  return `is not JSON: line ${line}, column ${column} (position ${offset}): expected ${expected}`
}

/** Counts the structural characters outside strings byte by byte. They are ASCII, and no byte of a longer UTF-8 sequence is. */
function faultBeyond(bytes: Buffer, { maxDepth, maxValues }: JsonLimits): string | undefined {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at + 1)
    else if (byte === comma) values++
    else if (byte === 0x7b || byte === 0x5b) {
      depth++
      values++
    } else if (byte === 0x7d || byte === 0x5d) depth--
    if (depth > maxDepth) return `nests deeper than ${maxDepth} levels`
    if (values > maxValues) return `has more than ${maxValues} values`
  }
  return undefined
}

function endOfString(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}
