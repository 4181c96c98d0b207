/**
 * Files in base64, as callers send them and as mail contains them. The text is neither decoded nor copied as a whole: its digits are
 * written in lines of 76, one piece at a time.
 */
import { runAtOnce, type Steps } from '../../event-loop.ts'

/** RFC 2045 §6.8: at most 76 characters in a line, which are 57 octets. */
const lineDigits = 76
const lineOctets = 57
// The writer waits for the disk after each piece, so large pieces keep the number of waits small.
const digitsPerPiece = lineDigits * 32_768

/** Error text for invalid base64, to follow the name of a field. */
export interface Base64Fault {
  readonly fault: string
}

/** A file with valid base64 (RFC 4648 §4), which decodes to exactly one sequence of octets. */
export class Base64File {
  /** Number of octets of the file. */
  readonly size: number
  /** Digits and padding. */
  readonly #text: Buffer

  private constructor(text: Buffer, digits: number) {
    this.#text = text
    this.size = Math.floor((digits * 3) / 4)
  }

  /**
   * Parses base64. Tabs, spaces and line breaks may appear anywhere (RFC 2045 §6.8). Padding must be complete or absent, and bits after the
   * last octet must be zero (RFC 4648 §3.5). Octets are ISO 8859-1 text. The parser compacts them in place, and the file uses their memory.
   */
  static parse(given: string | Uint8Array): Base64File | Base64Fault {
    return runAtOnce(Base64File.parsing(given))
  }

  /** Parses base64 in steps. */
  static *parsing(given: string | Uint8Array): Steps<Base64File | Base64Fault> {
    const octets = typeof given === 'string' ? yield* asOctets(given) : given
    const parsed = new Compaction(octets)
    while (parsed.step()) yield
    const { detail, wrongAt } = parsed
    if (wrongAt !== undefined) return fault(faultOfCharacter(head(given, 0), head(given, wrongAt), wrongAt))
    return detail === undefined ? new Base64File(parsed.text, parsed.digits) : fault(detail)
  }

  /** Digits and padding without blanks. */
  get digits(): string {
    return this.#text.toString('latin1')
  }

  /** Decodes the whole file. */
  decoded(): Buffer {
    return Buffer.from(this.digits, 'base64')
  }

  /** Number of octets that `lines` yields. */
  get encodedSize(): number {
    return Math.ceil(this.size / 3) * 4 + 2 * Math.ceil(this.size / lineOctets)
  }

  /** Yields the body of a MIME part: base64 in lines that end in CRLF, about 2.5 MB at a time. Each piece overwrites the previous piece. */
  *lines(): Iterable<Buffer> {
    const text = this.#text
    const most = Math.min(text.length, digitsPerPiece)
    const out = Buffer.allocUnsafe(most + 3 + 2 * Math.ceil((most + 3) / lineDigits))
    for (let at = 0; at < text.length; at += digitsPerPiece) yield inLines(text.subarray(at, at + digitsPerPiece), out)
  }
}

/** Writes the lines to `out`, with padding after the last digit. */
function inLines(digits: Buffer, out: Buffer): Buffer {
  let at = 0
  for (let from = 0; from < digits.length; from += lineDigits) {
    at += digits.copy(out, at, from, from + lineDigits)
    while ((at % (lineDigits + 2)) % 4 !== 0) out[at++] = equals
    out[at++] = cr
    out[at++] = lf
  }
  return out.subarray(0, at)
}

/** Returns the maximum total size of `count` files whose encoded parts fit into `encoded` octets. Zero or less if no file fits. */
export function octetsWithin(encoded: number, count: number): number {
  const forLastLines = 6 * count // each last line may be short, but needs padding and CRLF
  return Math.floor(((encoded - forLastLines) * lineOctets) / (lineDigits + 2))
}

const stepUnits = 524_288
const equals = 0x3d
const cr = 0x0d
const lf = 0x0a

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const noDigit = 64
const blank = 65
const padding = 66
/** Value of each digit, and kind of each other character, by octet. */
const values = Uint8Array.from({ length: 256 }, (_, octet) => {
  const char = String.fromCharCode(octet)
  if (char === '=') return padding
  if (/[\t\n\r ]/.test(char)) return blank
  return alphabet.includes(char) ? alphabet.indexOf(char) : noDigit
})

/** Converts the text to octets. UTF-16 units above U+00FF become an octet that is not a digit. */
function* asOctets(given: string): Steps<Buffer> {
  const octets = Buffer.allocUnsafeSlow(given.length)
  for (let at = 0; at < given.length; at += stepUnits) {
    octets.write(given.slice(at, at + stepUnits).replaceAll(/[^\0-\xff]/g, '\0'), at, 'latin1')
    if (given.length > stepUnits) yield
  }
  return octets
}

/** Checks a text and moves its blanks to the end, in steps. */
class Compaction {
  /** Position of the first character that is not a digit, blank or padding. */
  wrongAt: number | undefined
  readonly #text: Uint8Array
  #at = 0
  #kept = 0
  #padsFrom: number | undefined

  constructor(text: Uint8Array) {
    this.#text = text
  }

  /** Returns false when the text has been processed. */
  step(): boolean {
    const text = this.#text
    const end = Math.min(this.#at + stepUnits, text.length)
    let kept = this.#kept
    for (let at = this.#at; at < end; at++) {
      const octet = text[at] ?? 0
      const value = values[octet] ?? noDigit
      if (value >= noDigit) {
        if (value === blank) continue
        if (value === padding) this.#padsFrom ??= kept
        else this.wrongAt ??= at
      }
      if (kept !== at) text[kept] = octet
      kept++
    }
    this.#kept = kept
    this.#at = end
    if (this.wrongAt !== undefined) return false
    if (end < text.length) return true
    text.fill(0x20, kept)
    return false
  }

  get text(): Buffer {
    return Buffer.from(this.#text.buffer, this.#text.byteOffset, this.#kept)
  }

  get digits(): number {
    return this.#padsFrom ?? this.#kept
  }

  /** Error text that follows the name of the encoding, or undefined. */
  get detail(): string | undefined {
    const { digits, text } = this
    const pads = text.length - digits
    const excess = digits % 4
    if (!text.subarray(digits).every((octet) => octet === equals)) return '; padding (=) is only allowed at the end'
    if (excess === 1 || (pads > 0 && (pads > 2 || excess + pads !== 4)))
      return '; its length or its padding is wrong, for example because the end is missing'
    const last = values[text[digits - 1] ?? 0] ?? 0
    if (excess !== 0 && last % (excess === 2 ? 16 : 4) !== 0)
      return '; its last character has bits that belong to no octet, for example because the end is missing'
    return undefined
  }
}

const fault = (detail: string): Base64Fault => ({ fault: `must be base64 (RFC 4648 §4)${detail}` })

const head = (given: string | Uint8Array, from: number): string =>
  typeof given === 'string' ? given.slice(from, from + 100) : Buffer.from(given.subarray(from, from + 100)).toString('latin1')

/** `start` is the start of the text; `rest` begins with the invalid character. */
function faultOfCharacter(start: string, rest: string, at: number): string {
  if (/^\s*data:/i.test(start)) return ', not a data: URL; leave out everything up to the comma'
  const char = String.fromCodePoint(rest.codePointAt(0) ?? 0)
  if (char === '-' || char === '_')
    return `; character ${at + 1} is "${char}" of the URL-safe alphabet: write + instead of - and / instead of _`
  return `; character ${at + 1} is ${/[\p{L}\p{P}\p{S}]/u.test(char) ? `"${char}"` : codePointOf(char)}`
}

const codePointOf = (char: string): string => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
