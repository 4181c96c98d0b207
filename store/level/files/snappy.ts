/** Decompresses blocks that LevelDB compressed with Snappy. The format is that of Snappy's format_description.txt. */
import { FieldReader } from './field-reader.ts'

/** Far above the size of any block. A damaged length must not exhaust the memory. */
const maxBytes = 64 * 1024 * 1024

/** Throws `RangeError` for invalid input. */
export function inflateSnappy(bytes: Buffer): Buffer {
  const reader = new FieldReader(bytes)
  const size = reader.number()
  if (size > maxBytes) throw new RangeError('The length of a block is out of bounds.')
  const out = Buffer.allocUnsafe(size)
  let at = 0
  while (reader.left > 0) {
    const tag = reader.octet()
    if ((tag & 3) === 0) {
      const short = tag >> 2
      const length = 1 + (short < 60 ? short : reader.littleEndian(short - 59))
      at += reader.octets(length).copy(out, room(out, at, length))
    } else {
      const [length, distance] = copyOf(tag, reader)
      if (distance === 0 || distance > at) throw new RangeError('A block refers to octets outside of it.')
      // octet by octet, because a copy may overlap itself
      for (const end = room(out, at, length) + length; at < end; at++) out[at] = out[at - distance] as number
    }
  }
  if (at !== size) throw new RangeError('A block is shorter than its length says.')
  return out
}

function room(out: Buffer, at: number, length: number): number {
  if (at + length > out.length) throw new RangeError('A block is longer than its length says.')
  return at
}

/** Length and distance of a copy. */
function copyOf(tag: number, reader: FieldReader): readonly [number, number] {
  if ((tag & 3) === 1) return [4 + ((tag >> 2) & 7), ((tag >> 5) << 8) | reader.octet()]
  return [1 + (tag >> 2), reader.littleEndian((tag & 3) === 2 ? 2 : 4)]
}
