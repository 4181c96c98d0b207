/** A part inside mailparser 3.9.31, after its header was read; `parseMime` may change it before mailparser goes on. */
export interface PartNode {
  /** Octets of the header. */
  readonly _headerlen: number
  /** Media type in lower case; mailparser fills in a default. */
  readonly contentType: string | false
  charset: string | false
}
