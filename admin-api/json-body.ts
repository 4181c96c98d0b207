/** JSON text into a value: UTF-8 only (RFC 8259 §8.1), limited in depth, with the place of a mistake named. */
import { isUtf8 } from 'node:buffer'
import { invalid } from '#core/refusals.ts'
import { findJsonFault } from './json-fault.ts'

const quote = 0x22
const backslash = 0x5c
const byteOrderMark = 0xfeff

/**
 * Parses a request body. Throws `validation_failed` for bytes that are not UTF-8, for text that is not JSON (with line and
 * column) and for nesting beyond `depthMax`, which is counted before anything is built.
 */
export function parseJsonBody(bytes: Buffer, depthMax: number): unknown {
  if (!isUtf8(bytes)) throw invalid([{ path: 'body', message: 'must be UTF-8 text' }])
  if (isDeeperThan(bytes, depthMax)) throw invalid([{ path: 'body', message: `nests deeper than ${depthMax} levels` }])
  const decoded = bytes.toString()
  const text = decoded.charCodeAt(0) === byteOrderMark ? decoded.slice(1) : decoded
  try {
    return JSON.parse(text)
  } catch {
    throw invalid([{ path: 'body', message: describeFault(text) }])
  }
}

function describeFault(text: string): string {
  const { offset, expected } = findJsonFault(text)
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  const column = offset - before.lastIndexOf('\n')
  return `is not JSON: line ${line}, column ${column} (position ${offset}): expected ${expected}`
}

/** Brackets outside strings are counted byte by byte: all of them are ASCII, and no byte of a longer UTF-8 sequence is. */
function isDeeperThan(bytes: Buffer, depthMax: number): boolean {
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at + 1)
    else if (byte === 0x7b || byte === 0x5b) depth++
    else if (byte === 0x7d || byte === 0x5d) depth--
    if (depth > depthMax) return true
  }
  return false
}

function endOfString(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}
