/** A part inside mailparser 3.9.31, after its header was read; `parseMime` may change it before mailparser goes on. */
import type { Transform } from 'node:stream'

export interface PartNode {
  /** Octets of the header. */
  readonly _headerlen: number
  /** The lines of the header with their ends. */
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
  /** Makes the decoder of the encoding. */
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
  /** Name and value, one character an octet. */
  readonly line: string
}
