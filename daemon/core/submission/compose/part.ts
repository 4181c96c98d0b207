/** A MIME part of a message to compose, and rules for all parts. */
/** A part: its header lines without a final CRLF, and its body. */
export interface Part {
  readonly headers: readonly string[]
  readonly body: readonly Piece[]
}

/** A file or a long text that is encoded while it is written. */
export interface WrittenLater {
  /** Number of octets that `lines` yields. */
  readonly encodedSize: number
  /** Yields the encoded octets in pieces. Each piece overwrites the previous piece. */
  lines(): Iterable<Buffer>
}

/** Encoded text, encoded octets, or content that is encoded while it is written. */
export type Piece = string | Buffer | WrittenLater

/** 998 octets without CRLF. */
export const maxLineOctets = 998

/**
 * Returns an unfolded header field. Throws for a line break: the check of the request refuses line breaks, so that no caller can inject
 * fields.
 */
export function headerLine(line: string): string {
  if (/[\r\n\0]/.test(line)) throw new TypeError('a header field must not hold a line break or NUL')
  return line
}

/** Formats a field with parameters (RFC 2045 §5.1), each on a separate line. */
export const headerWithParameters = (field: string, parameters: readonly string[]): string =>
  [headerLine(field), ...parameters].join(';\r\n ')
