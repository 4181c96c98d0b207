/**
 * Encodes tuples as keys that keep the order: byte order of keys is element order of tuples (strings by UTF-8 bytes, numbers by value). The
 * format is a subset of FoundationDB's tuple layer.
 */
import type { Bytes } from './kv.ts'

/** A key element: text, an integer between -2^53 and 2^53, or bytes. */
export type Element = string | number | Bytes

const codeBytes = 0x01
const codeString = 0x02
const codeZero = 0x14
let scratch = Buffer.allocUnsafe(1024)

/** Packs elements into a key. */
export function pack(elements: readonly Element[]): Bytes {
  let at = 0
  for (const element of elements) {
    if (typeof element === 'number') at = putInteger(element, room(at, 9))
    else if (typeof element === 'string') at = putString(element, at)
    else at = putEscaped(codeBytes, element, room(at, element.length * 2 + 2))
  }
  const key = Buffer.allocUnsafe(at)
  scratch.copy(key, 0, 0, at)
  return key
}

/** Returns a string that identifies a key in maps and sets. */
export const keyName = (key: Bytes): string =>
  (key instanceof Buffer ? key : Buffer.from(key.buffer, key.byteOffset, key.byteLength)).toString('latin1')

/** Formats a key for people. */
export function describeKey(key: Bytes): string {
  try {
    return JSON.stringify(unpack(key).map((element) => (element instanceof Uint8Array ? Buffer.from(element).toString('hex') : element)))
  } catch {
    return Buffer.from(key).toString('hex')
  }
}

/** Returns the range of keys that extend the tuple by at least one element. */
export function within(elements: readonly Element[]): { start: Bytes; end: Bytes } {
  const prefix = pack(elements)
  return { start: Buffer.concat([prefix, Buffer.of(0)]), end: Buffer.concat([prefix, Buffer.of(0xff)]) }
}

/** Reads a key back into its elements. */
export function unpack(key: Bytes): Element[] {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength)
  const elements: Element[] = []
  let at = 0
  while (at < bytes.length) {
    const code = bytes[at] ?? 0
    if (code === codeString || code === codeBytes) {
      const [raw, next] = takeEscaped(bytes, at + 1)
      elements.push(code === codeString ? raw.toString('utf8') : raw)
      at = next
    } else {
      const size = Math.abs(code - codeZero)
      if (size > 7) throw new TypeError(`not a key of this store: code ${code}`)
      elements.push(takeInteger(bytes, at + 1, size, code < codeZero))
      at += 1 + size
    }
  }
  return elements
}

/** Decodes a key; undefined for bytes that `pack` never creates. */
export function elementsOf(key: Bytes): Element[] | undefined {
  try {
    const elements = unpack(key)
    return Buffer.compare(pack(elements), key) === 0 ? elements : undefined
  } catch {
    return undefined
  }
}

function room(at: number, more: number): number {
  if (at + more > scratch.length) scratch = Buffer.concat([scratch.subarray(0, at)], (at + more) * 2)
  return at
}

/** Keys are short and mostly ASCII, so a loop is faster than a call into the runtime. */
function putString(text: string, start: number): number {
  let at = room(start, text.length * 6 + 2)
  scratch[at++] = codeString
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0 || code > 0x7f) return putUtf8(text, start)
    scratch[at++] = code
  }
  scratch[at] = 0
  return at + 1
}

function putUtf8(text: string, start: number): number {
  let at = start
  scratch[at++] = codeString
  const end = at + scratch.write(text, at, 'utf8')
  if (!text.includes('\0')) {
    scratch[end] = 0
    return end + 1
  }
  return putEscaped(codeString, Buffer.from(text, 'utf8'), start)
}

function putEscaped(code: number, bytes: Bytes, start: number): number {
  let at = start
  scratch[at++] = code
  for (const byte of bytes) {
    scratch[at++] = byte
    if (byte === 0) scratch[at++] = 0xff
  }
  scratch[at++] = 0
  return at
}

function putInteger(value: number, start: number): number {
  if (!Number.isSafeInteger(value)) throw new TypeError(`not an integer key element: ${value}`)
  const magnitude = Math.abs(value)
  let size = 0
  while (magnitude >= 2 ** (8 * size)) size++
  scratch[start] = value < 0 ? codeZero - size : codeZero + size
  // the bytes of negative numbers are inverted, so that larger magnitudes sort first
  const mask = value < 0 ? 0xff : 0
  let rest = magnitude
  for (let i = size; i > 0; i--) {
    scratch[start + i] = (rest % 256) ^ mask
    rest = Math.floor(rest / 256)
  }
  return start + 1 + size
}

function takeEscaped(bytes: Buffer, start: number): [Buffer, number] {
  let at = start
  let escaped = false
  while (at < bytes.length && !(bytes[at] === 0 && bytes[at + 1] !== 0xff)) {
    escaped ||= bytes[at] === 0
    at += bytes[at] === 0 ? 2 : 1
  }
  const raw = bytes.subarray(start, at)
  return [escaped ? Buffer.from(raw.toString('latin1').replaceAll('\0\xff', '\0'), 'latin1') : raw, at + 1]
}

function takeInteger(bytes: Buffer, start: number, size: number, negative: boolean): number {
  const mask = negative ? 0xff : 0
  let magnitude = 0
  for (let i = 0; i < size; i++) magnitude = magnitude * 256 + ((bytes[start + i] ?? 0) ^ mask)
  return negative ? -magnitude : magnitude
}
