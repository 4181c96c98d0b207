/** Decoders of transfer encodings, in linear time. Octets that are not encoded stay unchanged. */
import { Transform, type TransformCallback } from 'node:stream'

const lineFeed = 0x0a
const equalsSign = 0x3d

/** Called when a decoder finds characters that are invalid in the encoding, possibly many times. */
export type BrokenNote = () => void

/** Passes whole lines to the decoder, many at a time. */
abstract class LinesDecoder extends Transform {
  protected readonly noteBroken: BrokenNote
  #rest: Buffer[] = []

  constructor(noteBroken: BrokenNote) {
    super()
    this.noteBroken = noteBroken
  }

  /** Decodes lines. `lines` ends with a line end, except at the end of the part. */
  protected abstract decodeLines(lines: Buffer): Buffer

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const end = chunk.lastIndexOf(lineFeed) + 1
    const lines = end > 0 ? [...this.#rest.splice(0), chunk.subarray(0, end)] : []
    if (end < chunk.length) this.#rest.push(chunk.subarray(end))
    done(null, this.decodeLines(Buffer.concat(lines)))
  }

  override _flush(done: TransformCallback): void {
    done(null, Buffer.concat([this.decodeLines(Buffer.concat(this.#rest.splice(0))), this.heldBack()]))
  }

  protected heldBack(): Buffer {
    return Buffer.alloc(0)
  }
}

/** The offset after the line that begins at `start`, including its line end. */
function nextLine(octets: Buffer, start: number): number {
  const feed = octets.indexOf(lineFeed, start)
  return feed < 0 ? octets.length : feed + 1
}

/** Decodes quoted-printable (RFC 2045 §6.7). mailparser's decoder takes quadratic time for long runs of white space. */
export class QuotedPrintableDecoder extends LinesDecoder {
  protected decodeLines(lines: Buffer): Buffer {
    const out = Buffer.alloc(lines.length)
    let length = 0
    for (let start = 0; start < lines.length;) {
      const next = nextLine(lines, start)
      length = decodeQuotedLine({ lines, start, next, noteBroken: this.noteBroken }, out, length)
      start = next
    }
    return out.subarray(0, length)
  }
}

interface QuotedLine {
  readonly lines: Buffer
  readonly start: number
  readonly next: number
  readonly noteBroken: BrokenNote
}

/** Decodes one line to `out` at `to`. Returns the end of the output. */
function decodeQuotedLine({ lines, start, next, noteBroken }: QuotedLine, out: Buffer, to: number): number {
  let lineEnd = next
  if (lines[lineEnd - 1] === lineFeed) lineEnd -= lines[lineEnd - 2] === 0x0d && lineEnd - 2 >= start ? 2 : 1
  let end = lineEnd
  while (end > start && (lines[end - 1] === 0x20 || lines[end - 1] === 0x09)) end--
  const isSoft = end > start && lines[end - 1] === equalsSign
  if (isSoft) end--
  let length = to
  for (let at = start; at < end; at++) {
    const isEscape = lines[at] === equalsSign
    const value = isEscape && at + 2 < end ? (hexOf(lines[at + 1]) << 4) | hexOf(lines[at + 2]) : -1
    if (isEscape && value < 0) noteBroken()
    out[length++] = value < 0 ? (lines[at] ?? 0) : value
    if (value >= 0) at += 2
  }
  return isSoft ? length : length + lines.copy(out, length, lineEnd, next)
}

/** The value of a hexadecimal digit, or -1, which makes the value of the pair negative too. */
function hexOf(octet = 0): number {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30
  const letter = octet & ~0x20
  return letter >= 0x41 && letter <= 0x46 ? letter - 0x37 : -1
}

/** The value of each octet in base64. `blank` and `foreign` mark white space and invalid characters. */
const blank = 64
const foreign = 65
const base64Values = new Uint8Array(256).fill(foreign)
const base64Letters = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
for (const [value, letter] of base64Letters.entries()) base64Values[letter] = value
for (const octet of [0x20, 0x09, 0x0d, lineFeed]) base64Values[octet] = blank

/**
 * Decodes base64 (RFC 2045 §6.8). Other characters are skipped. Padding ends a group; decoding continues after it, as in concatenated
 * content.
 */
export class Base64Decoder extends Transform {
  readonly #noteBroken: BrokenNote
  #bits = 0
  /** Number of letters in the current group. */
  #letters = 0

  constructor(noteBroken: BrokenNote) {
    super()
    this.#noteBroken = noteBroken
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const out = Buffer.allocUnsafe(((chunk.length + 3) >> 2) * 3)
    let length = 0
    let isBroken = false
    for (const octet of chunk) {
      const value = base64Values[octet] ?? foreign
      if (value < blank) {
        this.#bits = (this.#bits << 6) | value
        if (++this.#letters < 4) continue
        length = out.writeUIntBE(this.#bits & 0xffffff, length, 3)
        this.#letters = 0
      } else if (octet === equalsSign) {
        length = this.#endGroup(out, length)
      } else isBroken ||= value === foreign
    }
    if (isBroken) this.#noteBroken()
    done(null, out.subarray(0, length))
  }

  override _flush(done: TransformCallback): void {
    const out = Buffer.allocUnsafe(2)
    done(null, out.subarray(0, this.#endGroup(out, 0)))
  }

  /** Writes the octets of a group of fewer than four letters. Returns the end of the output. */
  #endGroup(out: Buffer, to: number): number {
    const letters = this.#letters
    this.#letters = 0
    if (letters === 1) this.#noteBroken()
    if (letters === 2) return out.writeUInt8((this.#bits >> 4) & 0xff, to)
    return letters === 3 ? out.writeUInt16BE((this.#bits >> 2) & 0xffff, to) : to
  }
}

const maxBeforeBegin = 64 * 1024

/** Decodes the first file of a uuencoded part. A part without a `begin` line stays unchanged. */
export class UuDecoder extends LinesDecoder {
  readonly #before: Buffer[] = []
  #held = 0
  #state: 'before' | 'inside' | 'after' | 'plain' = 'before'

  protected decodeLines(lines: Buffer): Buffer {
    const start = this.#state === 'before' ? this.#seekBegin(lines) : 0
    if (this.#state === 'plain') return Buffer.concat([...this.#before.splice(0), lines.subarray(start)])
    if (this.#state === 'after') this.#noteText(lines)
    return this.#state === 'inside' ? this.#decode(lines, start) : Buffer.alloc(0)
  }

  protected override heldBack(): Buffer {
    if (this.#state === 'before' || this.#state === 'plain') this.noteBroken()
    return this.#state === 'before' ? Buffer.concat(this.#before.splice(0)) : super.heldBack()
  }

  /**
   * Searches the `begin` line. Stores earlier lines, which are output if there is no `begin` line. Returns the offset after the last line
   * read.
   */
  #seekBegin(lines: Buffer): number {
    for (let start = 0; start < lines.length;) {
      const next = nextLine(lines, start)
      if (/^begin [0-7]{3,4} ./.test(lines.toString('latin1', start, Math.min(next, start + 16)))) {
        this.#state = 'inside'
        for (const before of this.#before.splice(0)) this.#noteText(before)
        return next
      }
      this.#before.push(lines.subarray(start, next))
      this.#held += next - start
      start = next
      if (this.#held > maxBeforeBegin) {
        this.#state = 'plain'
        return start
      }
    }
    return lines.length
  }

  /** Marks the part as broken if there is text before or after the file, because this text is dropped. */
  #noteText(lines: Buffer): void {
    if (/\S/.test(lines.toString('latin1').replace(/^\s*end\s*$/, ''))) this.noteBroken()
  }

  #decode(lines: Buffer, from: number): Buffer {
    const out = Buffer.alloc(lines.length + 64)
    let length = 0
    for (let start = from; start < lines.length;) {
      const next = nextLine(lines, start)
      const count = sixBits(lines[start])
      if (count === 0 || lines.toString('latin1', start, Math.min(next, start + 5)).trimEnd() === 'end') {
        this.#state = 'after'
        this.#noteText(lines.subarray(nextLine(lines, count === 0 ? next : start)))
        break
      }
      length += decodeUuLine(lines.subarray(start + 1, next), count, out, length)
      start = next
    }
    return out.subarray(0, length)
  }
}

/** Writes `count` octets, but at most one for each character of the line, so that short lines cannot grow. */
function decodeUuLine(line: Buffer, count: number, out: Buffer, to: number): number {
  const length = Math.min(count, line.length)
  for (let at = 0, place = to; place < to + length; at += 4, place += 3) {
    const [a, b, c, d] = [sixBits(line[at]), sixBits(line[at + 1]), sixBits(line[at + 2]), sixBits(line[at + 3])]
    out[place] = (a << 2) | (b >> 4)
    out[place + 1] = (b << 4) | (c >> 2)
    out[place + 2] = (c << 6) | d
  }
  return length
}

/** The space means zero, like the backtick. A relay may have removed a space at the end of a line. */
const sixBits = (octet: number | undefined): number => (octet === undefined || octet < 0x20 ? 0 : (octet - 0x20) & 0x3f)
