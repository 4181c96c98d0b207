/**
 * Relaxed canonicalizations of DKIM (RFC 6376 §3.4.2, RFC 6376 §3.4.4). Octets are handled as Latin-1 text, which preserves them. The body
 * is hashed in pieces in linear time.
 */
import { createHash } from 'node:crypto'

/** Blank lines are only counted until a text line follows; then this number is written at a time. */
const linesAtOnce = 8192

/** SHA-256 of a body in relaxed form. */
export class RelaxedBodyHash {
  readonly #hash = createHash('sha256')
  /** The incomplete last line. */
  #begun = ''
  #blankLines = 0
  #isEmpty = true

  /** Adds the next octets of the body; they can be split anywhere. */
  update(chunk: Uint8Array): void {
    const text = this.#begun + latin1(chunk)
    const end = text.lastIndexOf('\r\n')
    this.#begun = end < 0 ? text : text.slice(end + 2)
    if (end >= 0) this.#lines(text.slice(0, end))
  }

  /** Returns the hash in base64. Adds a missing line break at the end, and ignores empty lines at the end. */
  digest(): string {
    if (this.#begun !== '') this.#lines(this.#begun)
    this.#begun = ''
    if (!this.#isEmpty) this.#hash.update('\r\n')
    return this.#hash.digest('base64')
  }

  /** Adds complete lines, without the line break of the last line. */
  #lines(text: string): void {
    const relaxed = squeeze(`${text}\r\n`).replaceAll(' \r\n', '\r\n')
    let end = relaxed.length
    while (end >= 2 && relaxed.charCodeAt(end - 1) === 10 && relaxed.charCodeAt(end - 2) === 13) end -= 2
    const breaks = (relaxed.length - end) / 2
    if (end === 0) {
      this.#blankLines += breaks
      return
    }
    this.#breakLines()
    this.#hash.update(relaxed.slice(0, end), 'latin1')
    this.#isEmpty = false
    this.#blankLines = breaks
  }

  #breakLines(): void {
    for (; this.#blankLines > 0; this.#blankLines -= Math.min(this.#blankLines, linesAtOnce))
      this.#hash.update('\r\n'.repeat(Math.min(this.#blankLines, linesAtOnce)))
  }
}

/** Returns a header field in relaxed form without line break. `field` contains folds but not the last line break. */
export function relaxedField(field: string): string {
  const colon = field.indexOf(':')
  const value = squeeze(field.slice(colon + 1).replaceAll('\r\n', ''))
  return `${field.slice(0, colon).trimEnd().toLowerCase()}:${value.replace(/^ /, '').replace(/ $/, '')}`
}

/** Replaces runs of blanks and tabs with one blank. Skips single blanks, which are the majority, for speed. */
const squeeze = (text: string): string => text.replaceAll(/\t[ \t]*| [ \t]+/g, ' ')

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
