/** A part of a MIME message on its way to being composed, and what holds for all of them. */
/** A part: its header lines without a final CRLF, and its body. */
export interface Part {
  readonly headers: readonly string[]
  readonly body: readonly Piece[]
}

/** A file or a long text, which becomes octets while it is written. */
export interface WrittenLater {
  /** How many octets `lines` gives. */
  readonly encodedSize: number
  /** The octets as they go out, a piece at a time; each is there until it has been taken. */
  lines(): Iterable<Buffer>
}

/** Text or octets as they go out, or what is written later. */
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
