/**
 * The relaxed canonicalizations of DKIM (RFC 6376 §3.4.2, RFC 6376 §3.4.4). Octets are carried as Latin-1 text, so that none
 * is changed; the body is hashed piece by piece in linear time.
 */
import { createHash } from 'node:crypto'

/** Blank lines are held back as a number; so many at a time are written when a line follows them. */
const linesAtOnce = 8192

/** SHA-256 over a body in relaxed form. */
export class RelaxedBodyHash {
  readonly #hash = createHash('sha256')
  /** The last line as far as it has come. */
  #begun = ''
  #blankLines = 0
  #isEmpty = true

  /** Takes the next octets of the body, over any split. */
  update(chunk: Uint8Array): void {
    const text = this.#begun + latin1(chunk)
    const end = text.lastIndexOf('\r\n')
    this.#begun = end < 0 ? text : text.slice(end + 2)
    if (end >= 0) this.#lines(text.slice(0, end))
  }

  /** The hash in base64. A body that does not end with a line break gets one; empty lines at its end do not count. */
  digest(): string {
    if (this.#begun !== '') this.#lines(this.#begun)
    this.#begun = ''
    if (!this.#isEmpty) this.#hash.update('\r\n')
    return this.#hash.digest('base64')
  }

  /** Whole lines, without the line break of the last one. */
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

/** One header field, with its folds and without its last line break, in relaxed form without a line break. */
export function relaxedField(field: string): string {
  const colon = field.indexOf(':')
  const value = squeeze(field.slice(colon + 1).replaceAll('\r\n', ''))
  return `${field.slice(0, colon).trimEnd().toLowerCase()}:${value.replace(/^ /, '').replace(/ $/, '')}`
}

/** Runs of blanks and tabs as one blank. Single blanks, which is most of them, are left alone. */
const squeeze = (text: string): string => text.replaceAll(/\t[ \t]*| [ \t]+/g, ' ')

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
