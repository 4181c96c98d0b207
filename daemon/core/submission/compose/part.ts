/** A part of a MIME message on its way to being composed, and what holds for all of them. */
/** A part: its header lines without a final CRLF, and its body. */
export interface Part {
  readonly headers: readonly string[]
  readonly body: readonly Piece[]
}

/** A file or a long text that is encoded while it is written. */
export interface WrittenLater {
  /** Number of octets that `lines` yields. */
  readonly encodedSize: number
  /** Yields the encoded octets in pieces. Each piece overwrites the one before. */
  lines(): Iterable<Buffer>
}

/** Encoded text, encoded octets, or content that is encoded while it is written. */
export type Piece = string | Buffer | WrittenLater

/** 998 octets without CRLF. */
export const maxLineOctets = 998

/** A header field before folding. A break in it is a defect of whoever checked the request: nothing may add fields of its own. */
export function headerLine(line: string): string {
  if (/[\r\n\0]/.test(line)) throw new TypeError('a header field must not hold a line break or NUL')
  return line
}

/** A field with parameters (RFC 2045 §5.1), each on a line of its own. */
export const headerWithParameters = (field: string, parameters: readonly string[]): string =>
  [headerLine(field), ...parameters].join(';\r\n ')
