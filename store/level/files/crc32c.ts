/** CRC-32C, the checksum in LevelDB's files, and the search for a single flipped bit that explains a wrong checksum. */
import type { Bytes } from '../../kv.ts'

const polynomial = 0x82f63b78
/** Eight tables of 256 entries process eight octets in one step. */
const tables = makeTables()
const octets = tables.subarray(0, 256)

function makeTables(): Int32Array {
  const all = new Int32Array(8 * 256)
  for (let octet = 0; octet < 256; octet++) {
    let crc = octet
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1
    all[octet] = crc
  }
  for (let i = 256; i < all.length; i++) {
    const before = all[i - 256] as number
    all[i] = (all[before & 0xff] as number) ^ (before >>> 8)
  }
  return all
}

/** Returns the unsigned checksum of the octets from `start` to `end`. */
export function crc32c(bytes: Bytes, start = 0, end = bytes.length): number {
  const t = tables
  let crc = -1
  let at = start
  for (; at + 8 <= end; at += 8) {
    crc ^= (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)
    crc =
      (t[1792 + (crc & 0xff)] as number) ^
      (t[1536 + ((crc >>> 8) & 0xff)] as number) ^
      (t[1280 + ((crc >>> 16) & 0xff)] as number) ^
      (t[1024 + (crc >>> 24)] as number) ^
      (t[768 + (bytes[at + 4] as number)] as number) ^
      (t[512 + (bytes[at + 5] as number)] as number) ^
      (t[256 + (bytes[at + 6] as number)] as number) ^
      (t[bytes[at + 7] as number] as number)
  }
  for (; at < end; at++) crc = afterOctet(crc ^ (bytes[at] as number), crc)
  return ~crc >>> 0
}

const afterOctet = (index: number, crc: number): number => (octets[index & 0xff] as number) ^ (crc >>> 8)

/** Returns the form of a checksum in LevelDB's files. */
export const masked = (crc: number): number => (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0

function unmasked(stored: number): number {
  const rotated = (stored - 0xa282ead8) >>> 0
  return ((rotated >>> 17) | (rotated << 15)) >>> 0
}

/** Position of a bit in a file: the octet, and a mask for the bit. */
export interface Bit {
  readonly at: number
  readonly mask: number
}

/** Returns the single flipped bit that explains a wrong checksum. It may be in the octets, or in the checksum at `storedAt`. */
export function flippedBit(bytes: Buffer, start: number, end: number, storedAt: number): Bit | undefined {
  const stored = bytes.readUInt32LE(storedAt)
  const crc = crc32c(bytes, start, end)
  const inChecksum = (masked(crc) ^ stored) >>> 0
  if (inChecksum === 0) return undefined
  if ((inChecksum & (inChecksum - 1)) === 0) {
    const bit = 31 - Math.clz32(inChecksum)
    return { at: storedAt + (bit >> 3), mask: 1 << (bit & 7) }
  }
  const difference = (crc ^ unmasked(stored)) | 0
  for (let mask = 1; mask < 256; mask <<= 1) {
    // A checksum is linear: the effect of a flipped bit depends only on its position.
    let effect = octets[mask] as number
    for (let at = end - 1; at >= start; at--) {
      if (effect === difference) return { at, mask }
      effect = afterOctet(effect, effect)
    }
  }
  return undefined
}
