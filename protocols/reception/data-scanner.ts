/**
 * Scans the octets after DATA, chunk by chunk. Finds the end (RFC 5321 §4.1.1.4), removes stuffed dots (RFC 5321 §4.5.2), turns bare CR and
 * bare LF into CRLF, and records properties of the content. Only CRLF starts a line for dots and for the end. So no other reading of the
 * same octets can find more messages.
 */
import { maxLineOctets } from '#core/submission/whole/whole-limits.ts'

const nul = 0x00
const lf = 0x0a
const cr = 0x0d
const dot = 0x2e

// States between two octets. The scanner holds back a dot at the start of a line and a CR after it.
const inText = 0
const afterCr = 1
const atLineStart = 2
const afterDot = 3
const afterDotCr = 4
type State = typeof inText | typeof afterCr | typeof atLineStart | typeof afterDot | typeof afterDotCr

// Octets that the previous chunk may have held back, and the line end that replaces them.
const heldOctets = 4
// Rewritten content can be much smaller than its buffer. Waste below this size does not justify another copy.
const maxWasteOctets = 4096

/** Result of a chunk: its content, and the offset after the final dot, or -1 before the end of the message. */
export interface Scanned {
  readonly content: Buffer
  readonly end: number
}

export class DataScanner {
  /** The content has an octet above 127. */
  eightBit = false
  /** The content has a NUL, which RFC 5322 §4 forbids. */
  hasNul = false
  /** The content has a line longer than `maxLineOctets`. */
  hasLongLine = false
  /** Part with the first bare CR or LF, which RFC 5321 §2.3.8 forbids. */
  bareLineEnd: 'header' | 'body' | undefined
  /** Octets of content up to and including the empty line after the header block, or -1 before that line. */
  headerEnd = -1
  #state: State = atLineStart
  /** Octets read of the current line, without its CR. */
  #line = 0
  /** Octets of content in earlier chunks. */
  #produced = 0

  /** Scans the next chunk. Returns an unmodified chunk without a copy. */
  scan(chunk: Buffer): Scanned {
    const clean = this.#readClean(chunk)
    const scanned =
      clean === chunk.length ? { content: chunk, end: -1 } : (endsHere(chunk, clean, this.#state) ?? this.#rewrite(chunk, clean))
    this.#produced += scanned.content.length
    return scanned
  }

  /** Reads until an octet that requires a change. Returns the offset of the first unread octet. */
  #readClean(chunk: Buffer): number {
    if (this.#state > atLineStart || (this.#state === atLineStart && chunk[0] === dot)) return 0
    if (this.#state === afterCr && chunk[0] !== lf) return 0
    const { length } = chunk
    const words = wordsOf(chunk)
    const aligned = (4 - (chunk.byteOffset & 3)) & 3
    let line = this.#line
    for (let at = 0; at < length; at++) {
      if ((at & 3) === aligned) {
        const skipped = plainOctets(words, (at - aligned) >> 2)
        at += skipped
        line += skipped
        if (at >= length) break
      }
      const octet = chunk[at] as number
      if (octet > cr && octet < 0x80) {
        line++
      } else if (octet === cr) {
        if (at + 1 < length && chunk[at + 1] !== lf) return this.#stop(at + 1, line, afterCr)
      } else if (octet === lf) {
        if (at === 0 ? this.#state !== afterCr : chunk[at - 1] !== cr) return this.#stop(at, line, inText)
        this.#endLine(line, at + 1)
        line = 0
        if (at + 1 < length && chunk[at + 1] === dot) return this.#stop(at + 1, 0, atLineStart)
      } else {
        line++
        this.#note(octet)
      }
    }
    const last = chunk[length - 1]
    return this.#stop(length, line, last === cr ? afterCr : last === lf ? atLineStart : inText)
  }

  #stop(at: number, line: number, state: State): number {
    this.#line = line
    this.#state = state
    if (line > maxLineOctets) this.hasLongLine = true
    return at
  }

  /** Copies the chunk octet by octet and corrects its line ends. The octets before `from` are already scanned. */
  #rewrite(chunk: Buffer, from: number): Scanned {
    const out = Buffer.allocUnsafe(chunk.length + halfLineEnds(chunk, from) + heldOctets)
    chunk.copy(out, 0, 0, from)
    let size = from
    let end = -1
    for (let at = from; at < chunk.length && end < 0; at++) {
      const octet = chunk[at] as number
      const written = this.#readHeld(octet, out, size)
      if (written < 0) end = at + 1
      else size = written
    }
    const content = out.subarray(0, size)
    return { content: out.length - size > maxWasteOctets ? Buffer.from(content) : content, end }
  }

  /** Reads an octet in a state that may hold octets back. Returns the new size of `out`, or -1 at the end of the message. */
  #readHeld(octet: number, out: Buffer, size: number): number {
    switch (this.#state) {
      case atLineStart:
        if (octet !== dot) break
        this.#state = afterDot
        return size
      case afterDot:
        if (octet !== cr) break
        this.#state = afterDotCr
        return size
      case afterDotCr:
        if (octet === lf) return -1
        return this.#readPlain(octet, out, this.#writeLineEnd(out, size))
      case afterCr:
        if (octet !== lf) this.#noteBare()
        out[size++] = lf
        this.#endLine(this.#line, size)
        this.#line = 0
        if (octet !== lf) break
        this.#state = atLineStart
        return size
      case inText:
    }
    return this.#readPlain(octet, out, size)
  }

  #readPlain(octet: number, out: Buffer, size: number): number {
    this.#state = octet === cr ? afterCr : inText
    if (octet === lf) return this.#writeLineEnd(out, size)
    out[size++] = octet
    if (octet === cr) return size
    if (++this.#line > maxLineOctets) this.hasLongLine = true
    if (octet === nul || octet >= 0x80) this.#note(octet)
    return size
  }

  /** Writes CRLF for a bare CR or LF. It ends the line, but does not start a line for dots. */
  #writeLineEnd(out: Buffer, size: number): number {
    this.#noteBare()
    out[size++] = cr
    out[size++] = lf
    this.#endLine(this.#line, size)
    this.#line = 0
    return size
  }

  #endLine(line: number, size: number): void {
    if (line > maxLineOctets) this.hasLongLine = true
    if (line === 0 && this.headerEnd < 0) this.headerEnd = this.#produced + size
  }

  #noteBare(): void {
    this.bareLineEnd ??= this.headerEnd < 0 ? 'header' : 'body'
  }

  #note(octet: number): void {
    if (octet === nul) this.hasNul = true
    else if (octet >= 0x80) this.eightBit = true
  }
}

/** Returns the octets of a chunk as 32-bit words, from the first aligned octet. */
function wordsOf(chunk: Buffer): Int32Array {
  const start = (chunk.byteOffset + 3) & ~3
  return new Int32Array(chunk.buffer, start, Math.max(0, chunk.byteOffset + chunk.length - start) >> 2)
}

/** Counts the octets, from word `from`, in words that hold only ASCII above CR. Such text needs no further check. */
function plainOctets(words: Int32Array, from: number): number {
  let at = from
  for (; at < words.length; at++) {
    const word = words[at] as number
    // the sign bit of an octet is set if the octet is below 0x0e (by the borrow) or above 0x7f
    if (((((word - 0x0e0e0e0e) & ~word) | word) & 0x80808080) !== 0) break
  }
  return (at - from) << 2
}

/** Counts bare CRs and LFs after `from`. Each one grows the content by an octet. */
function halfLineEnds(chunk: Buffer, from: number): number {
  let count = 0
  for (let at = from; at < chunk.length; at++) {
    const octet = chunk[at]
    if (octet === lf ? chunk[at - 1] !== cr : octet === cr && chunk[at + 1] !== lf) count++
  }
  return count
}

/** Returns the content if the chunk contains the whole end sequence, which needs no copy. */
function endsHere(chunk: Buffer, at: number, state: State): Scanned | undefined {
  const ends = state === atLineStart && chunk[at] === dot && chunk[at + 1] === cr && chunk[at + 2] === lf
  return ends ? { content: chunk.subarray(0, at), end: at + 3 } : undefined
}
