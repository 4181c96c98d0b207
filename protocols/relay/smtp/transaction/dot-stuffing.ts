/**
 * Transparency of content after DATA (RFC 5321 §4.5.2). Content should have only CRLF line ends. If it does not, every dot after a CR or an
 * LF is doubled, so that no peer can find an end of data before ours, however it reads line ends.
 */

const lineFeed = 10
const carriageReturn = 13
const dot = 46
const afterFeed = Buffer.from('\n.')
const afterReturn = Buffer.from('\r.')

const endOnOwnLine = '.\r\n'
const endAfterLine = '\r\n.\r\n'

/** Doubles dots in a message that is split into chunks at any position. */
export class DotStuffer {
  // The start of the data is the start of a line.
  #beforeLast = carriageReturn
  #last = lineFeed

  /** Returns the chunk to send. It is the same object if no dot must be doubled. */
  stuff(chunk: Uint8Array): Uint8Array {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const length = bytes.length
    if (length === 0) return bytes
    const leads = bytes[0] === dot && isLineEnd(this.#last)
    this.#beforeLast = length > 1 ? (bytes[length - 2] ?? 0) : this.#last
    this.#last = bytes[length - 1] ?? 0
    if (!leads && bytes.indexOf(afterFeed) < 0 && bytes.indexOf(afterReturn) < 0) return bytes
    return doubled(bytes, leads)
  }

  /** Returns the end of the data: the final dot, after a CRLF unless the content ends with one. */
  end(): string {
    return this.#beforeLast === carriageReturn && this.#last === lineFeed ? endOnOwnLine : endAfterLine
  }
}

function isLineEnd(byte: number): boolean {
  return byte === lineFeed || byte === carriageReturn
}

/** Copies with plain loops, because a search from dot to dot is slow if every line has one. */
function doubled(bytes: Buffer, leads: boolean): Buffer {
  const out = Buffer.allocUnsafe(bytes.length + countDots(bytes, leads))
  let at = 0
  let previous = leads ? lineFeed : 0
  for (const byte of bytes) {
    if (byte === dot && isLineEnd(previous)) out[at++] = dot
    out[at++] = byte
    previous = byte
  }
  return out
}

function countDots(bytes: Buffer, leads: boolean): number {
  let count = 0
  let previous = leads ? lineFeed : 0
  for (const byte of bytes) {
    if (byte === dot && isLineEnd(previous)) count += 1
    previous = byte
  }
  return count
}
