/** A part inside mailparser 3.9.31 after its header was parsed. `parseMime` may change it before mailparser continues. */
import type { Transform } from 'node:stream'

export interface PartNode {
  /** Length of the header in octets. */
  readonly _headerlen: number
  /** The lines of the header with their line ends. */
  readonly _headersLines: readonly Buffer[]
  readonly headers: PartFields
  readonly parentNode: PartNode | false
  /** An embedded message that mailparser opens. */
  readonly messageNode?: boolean | undefined
  /** The subtype of a multipart, such as `mixed`. */
  multipart: string | false
  filename: string | false
  /** Media type in lower case; mailparser fills in a default. */
  contentType: string | false
  disposition: string | false
  charset: string | false
  /** Content-Transfer-Encoding in lower case, without comments. */
  encoding: string | false
  /** The part has `format=flowed`. */
  flowed: boolean
  readonly delSp: boolean
  /** Creates the decoder of the encoding. */
  getDecoder(): Transform
}

export interface PartFields {
  /** All fields, with names in lower case. */
  lines: readonly PartField[]
  getFirst(name: string): string
  get(name: string): readonly string[]
  remove(name: string): void
}

export interface PartField {
  readonly key: string
  /** Name and value, with one character for each octet. */
  readonly line: string
}
