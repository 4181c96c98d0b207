/** Encodes a text as the body of a part. A long text is checked in steps and encoded while it is written. */
import type { Steps } from '../../event-loop.ts'
import type { Part, WrittenLater } from './part.ts'
import { isSevenBit, quotedPrintable, sevenBit, type TextEncoding } from './text-encodings.ts'

/** Characters that are encoded in one step. */
const stepUnits = 65_536
/** Octets that `lines` yields at a time. The encoded form of one step always fits. */
const outBytes = 1_048_576
/** Most octets that one UTF-16 unit takes in UTF-8. */
const octetsOfUnit = 3

/** Composes a text part. Uses 7bit if the characters and lines permit it, otherwise quoted-printable. */
export function* textPart(type: string, text: string): Steps<Part> {
  const octets = Buffer.allocUnsafe(Math.min(text.length, stepUnits) * octetsOfUnit)
  const encoding = (yield* isPlain(text, octets)) ? sevenBit : quotedPrintable
  const encoder = new Encoder(text, encoding, octets)
  return {
    headers: [`Content-Type: ${type}; charset=utf-8`, `Content-Transfer-Encoding: ${encoding.name}`],
    body: [text.length > stepUnits ? yield* LongText.measured(encoder) : encoder.whole()],
  }
}

function* isPlain(text: string, octets: Buffer): Steps<boolean> {
  for (const piece of pieces(text)) {
    // a piece that ends without a line break contains at least one line that is too long
    if (!isSevenBit(octets.subarray(0, octets.write(piece))) || (piece.length === stepUnits && !/[\r\n]$/.test(piece))) return false
    if (text.length > stepUnits) yield
  }
  return true
}

/** Encodes a text piece by piece, and uses the same memory for each piece. */
class Encoder {
  readonly #text: string
  readonly #encoding: TextEncoding
  readonly #octets: Buffer
  readonly #out: Buffer

  /** `octets` has room for a piece in UTF-8. */
  constructor(text: string, encoding: TextEncoding, octets: Buffer) {
    this.#text = text
    this.#encoding = encoding
    this.#octets = octets
    this.#out = Buffer.allocUnsafe(encoding.room(octets.length))
  }

  /** Yields the encoded pieces. Each piece overwrites the previous piece. */
  *encoded(): Iterable<Buffer> {
    let left = this.#text.length
    for (const piece of pieces(this.#text)) {
      left -= piece.length
      const octets = this.#octets.subarray(0, this.#octets.write(piece))
      yield this.#out.subarray(0, this.#encoding.write(this.#out, octets, left > 0))
    }
  }

  whole(): string {
    return [...this.encoded()].map((octets) => octets.toString('latin1')).join('')
  }
}

class LongText implements WrittenLater {
  readonly encodedSize: number
  readonly #encoder: Encoder

  private constructor(encoder: Encoder, encodedSize: number) {
    this.#encoder = encoder
    this.encodedSize = encodedSize
  }

  static *measured(encoder: Encoder): Steps<LongText> {
    let size = 0
    for (const { length } of encoder.encoded()) {
      size += length
      yield
    }
    return new LongText(encoder, size)
  }

  *lines(): Iterable<Buffer> {
    const out = Buffer.allocUnsafe(Math.min(outBytes, this.encodedSize))
    let at = 0
    for (const octets of this.#encoder.encoded()) {
      if (at + octets.length > out.length) {
        yield out.subarray(0, at)
        at = 0
      }
      at += octets.copy(out, at)
    }
    yield out.subarray(0, at)
  }
}

/** Splits a text into pieces that end after a line break if possible, and never inside a line break or a character. */
function* pieces(text: string): Iterable<string> {
  for (let at = 0; at < text.length || at === 0;) {
    const end = at + stepUnits >= text.length ? text.length : endOf(text, at)
    yield text.slice(at, end)
    if (end === text.length) return
    at = end
  }
}

function endOf(text: string, at: number): number {
  const end = at + stepUnits
  // searches only the piece: searching the whole text would scan to its start for each piece
  const broken = text.slice(at, end).lastIndexOf('\n') + 1
  if (broken > 0) return at + broken
  return /[\r\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end
}
