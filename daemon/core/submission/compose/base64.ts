/**
 * Files in base64, as callers give them and as mail carries them. The text is never decoded as a whole: the digits that came
 * in go out again in lines of 76, a piece at a time.
 */
import { runAtOnce, type Steps } from '../../event-loop.ts'

/** RFC 2045 §6.8: at most 76 characters in a line, which are 57 octets. */
const lineDigits = 76
const lineOctets = 57
// Large enough that waiting for the disk after each piece does not add up.
const digitsPerPiece = lineDigits * 32_768

/** What is wrong with a text that is no base64, in words that follow the name of a field. */
export interface Base64Fault {
  readonly fault: string
}

/** A file whose base64 (RFC 4648 §4) was checked: it decodes to exactly one sequence of octets. */
export class Base64File {
  /** How many octets the file has. */
  readonly size: number
  readonly #digits: string

  private constructor(digits: string) {
    this.#digits = digits
    const padding = digits.endsWith('==') ? 2 : digits.endsWith('=') ? 1 : 0
    this.size = Math.floor(((digits.length - padding) * 3) / 4)
  }

  /**
   * Line breaks and blanks may stand anywhere (RFC 2045 §6.8); padding is all there or not at all, and bits after the last
   * octet are zero (RFC 4648 §3.5). What is no base64 gives a fault instead: what is wrong with it, in words that follow the
   * name of a field.
   */
  static parse(given: string): Base64File | Base64Fault {
    return runAtOnce(Base64File.parsing(given))
  }

  /** Likewise, in steps. */
  static *parsing(given: string): Steps<Base64File | Base64Fault> {
    const digits = yield* withoutBlanks(given)
    const whole = digits.length % 4 === 0 || (digits.length % 4 !== 1 && !digits.endsWith('='))
    return whole && (yield* isReversible(digits))
      ? new Base64File(digits)
      : { fault: `must be base64 (RFC 4648 §4)${faultOf(given, digits)}` }
  }

  /** The digits without breaks, for who compares files without decoding them. */
  get digits(): string {
    return this.#digits
  }

  /** The octets of the file, all at once. */
  decoded(): Buffer {
    return Buffer.from(this.#digits, 'base64')
  }

  /** How many octets `lines` gives. */
  get encodedSize(): number {
    return Math.ceil(this.size / 3) * 4 + 2 * Math.ceil(this.size / lineOctets)
  }

  /** The file as the body of a part: base64 in lines that end in CRLF, some 2.5 MB at a time. Each piece overwrites the one before. */
  *lines(): Iterable<Buffer> {
    const most = Math.min(this.#digits.length, digitsPerPiece)
    const out = Buffer.allocUnsafe(most + 3 + 2 * Math.ceil((most + 3) / lineDigits))
    for (const digits of pieces(this.#digits)) yield inLines(digits, out)
  }
}

/** The most octets that `count` files may have together to keep to `encoded` octets as bodies of parts; zero or less when none fits. */
export function octetsWithin(encoded: number, count: number): number {
  const forLastLines = 6 * count // each may end early, and needs its padding and CRLF all the same
  return Math.floor(((encoded - forLastLines) * lineOctets) / (lineDigits + 2))
}

/** The digits in pieces of whole lines, padded. */
function* pieces(digits: string): Iterable<string> {
  for (let at = 0; at < digits.length; at += digitsPerPiece) {
    const piece = digits.slice(at, at + digitsPerPiece)
    yield piece.padEnd(Math.ceil(piece.length / 4) * 4, '=')
  }
}

const stepUnits = 524_288

/** Removes blanks octet by octet. A regular expression would create a string for each line. */
function* withoutBlanks(given: string): Steps<string> {
  if (!/[\t\n\r ]/.test(given)) return given
  const digits: Buffer<ArrayBuffer> = Buffer.allocUnsafeSlow(given.length)
  let size = 0
  for (let at = 0; at < given.length; at += stepUnits) {
    const piece = given.slice(at, at + stepUnits)
    if (!/^[\0-\u007f]*$/.test(piece)) return given
    size = blanksRemoved(digits, size, size + digits.write(piece, size, 'latin1'))
    if (given.length > stepUnits) yield
  }
  const text = digits.toString('latin1', 0, size)
  digits.buffer.transfer(0) // the memory is large, and a collection comes late
  return text
}

/** Returns the end of the octets that are kept. */
function blanksRemoved(octets: Buffer, from: number, to: number): number {
  let kept = from
  for (let at = from; at < to; at++) {
    const octet = octets[at] ?? 0
    if (octet > 0x20 || (octet !== 0x20 && octet !== 0x0a && octet !== 0x0d && octet !== 0x09)) octets[kept++] = octet
  }
  return kept
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const noDigit = 64
/** Values of digits, by their octets. */
const values = Uint8Array.from({ length: 256 }, (_, octet) => {
  const value = alphabet.indexOf(String.fromCharCode(octet))
  return value < 0 ? noDigit : value
})

/** Whether there are only digits, with padding at the end, and no bits after the last octet. Uses the same memory for each piece. */
function* isReversible(digits: string): Steps<boolean> {
  const count = digits.length - (digits.endsWith('==') ? 2 : digits.endsWith('=') ? 1 : 0)
  const octets = Buffer.allocUnsafe(Math.min(count, stepUnits))
  let last = 0
  for (let from = 0; from < count; from += stepUnits) {
    const size = Math.min(stepUnits, count - from)
    if (octets.write(digits.slice(from, from + size), 'utf8') < size) return false
    for (let at = 0; at < size; at++) {
      last = values[octets[at] ?? 0] ?? noDigit
      if (last === noDigit) return false
    }
    if (count > stepUnits) yield
  }
  return count % 4 === 2 ? last % 16 === 0 : count % 4 !== 3 || last % 4 === 0
}

/** Writes the lines to `out`. */
function inLines(digits: string, out: Buffer): Buffer {
  const lines = Math.ceil(digits.length / lineDigits)
  const first = 2 * lines // the digits move forward to their lines
  out.write(digits, first, 'latin1')
  let at = 0
  for (let from = 0; from < digits.length; from += lineDigits) {
    const length = Math.min(lineDigits, digits.length - from)
    out.copyWithin(at, first + from, first + from + length)
    at += length
    out[at++] = 0x0d
    out[at++] = 0x0a
  }
  return out.subarray(0, at)
}

function faultOf(given: string, digits: string): string {
  if (/^\s*data:/i.test(given)) return ', not a data: URL; leave out everything up to the comma'
  const at = given.search(/[^A-Za-z0-9+/=\t\n\r ]/)
  const char = String.fromCodePoint(given.codePointAt(at) ?? 0)
  if (char === '-' || char === '_')
    return `; character ${at + 1} is "${char}" of the URL-safe alphabet: write + instead of - and / instead of _`
  if (at >= 0) return `; character ${at + 1} is ${/[\p{L}\p{P}\p{S}]/u.test(char) ? `"${char}"` : codePointOf(char)}`
  if (/=[^=]/.test(digits)) return '; padding (=) may stand at the end only'
  if (digits.endsWith('=') ? digits.length % 4 !== 0 || digits.endsWith('===') : digits.length % 4 === 1)
    return '; its length or its padding is wrong, as when the end is missing'
  return '; its last character has bits that belong to no octet, as when the end is missing'
}

const codePointOf = (char: string): string => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
