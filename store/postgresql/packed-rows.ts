/**
 * Rows as parameters of a statement. Keys and values are two long byte strings with offsets, because an array of byte strings would be sent
 * in hexadecimal.
 */
import { lengthOf, type Bytes } from '../kv.ts'

export interface PackedRow {
  readonly key: Bytes
  readonly stored: Bytes
}

/** Returns keys, values, then offset and length of each key, and of each value. Offsets start at 1. */
export function packRows(rows: readonly PackedRow[]): readonly [Buffer, Buffer, number[], number[], number[], number[]] {
  const keys = pack(rows.map(({ key }) => key))
  const values = pack(rows.map(({ stored }) => stored))
  return [keys.octets, values.octets, keys.begins, keys.lengths, values.begins, values.lengths]
}

function pack(pieces: readonly Bytes[]): { readonly octets: Buffer; readonly begins: number[]; readonly lengths: number[] } {
  const begins: number[] = []
  let next = 1
  for (const { length } of pieces) {
    begins.push(next)
    next += length
  }
  return { octets: Buffer.concat(pieces, lengthOf(pieces)), begins, lengths: pieces.map(({ length }) => length) }
}
