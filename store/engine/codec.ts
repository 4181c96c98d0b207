/** Layout of stored values in all engines: one byte of kind, eight bytes of version, then the payload. */
import type { Bytes } from '../kv.ts'

/**
 * `inline`: the value. `pointer`: a place in the value log. `object`: an object. `…InParts`: the value is the sum of parts, which are
 * separate rows.
 */
export const kinds = { inline: 0, counter: 1, pointer: 2, object: 3, counterInParts: 4, talliesInParts: 5 } as const
const headerBytes = 9

/** Location of a large value: segment number, offset, length and CRC-32. */
export interface Pointer {
  readonly segment: number
  readonly offset: number
  readonly length: number
  readonly crc: number
}

/** A large value stored outside the database. */
export interface ObjectPlace {
  /** 16 random octets. */
  readonly id: Bytes
  readonly size: number
  /** 32 octets. */
  readonly sha256: Bytes
}

const view = (stored: Bytes): Buffer => Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)

export const kindOf = (stored: Bytes): number => stored[0] ?? kinds.inline
export const versionOf = (stored: Bytes): bigint => view(stored).readBigUInt64BE(1)
export const payloadOf = (stored: Bytes): Bytes => stored.subarray(headerBytes)

export function seal(version: bigint, value: Bytes): Bytes {
  const stored = header(kinds.inline, version, value.length)
  stored.set(value, headerBytes)
  return stored
}

export function sealCounter(version: bigint, value: number): Bytes {
  const stored = header(kinds.counter, version, 8)
  stored.writeDoubleBE(value, headerBytes)
  return stored
}

/** `isTally`: parts of counts by name; otherwise parts of a counter. */
export const sealParts = (isTally: boolean, version: bigint): Bytes =>
  header(isTally ? kinds.talliesInParts : kinds.counterInParts, version, 0)

export const counterOf = (stored: Bytes | undefined): number =>
  stored && kindOf(stored) === kinds.counter ? view(stored).readDoubleBE(headerBytes) : 0

export function sealPointer(version: bigint, pointer: Pointer): Bytes {
  const stored = header(kinds.pointer, version, 18)
  stored.writeUInt32BE(pointer.segment, headerBytes)
  stored.writeUIntBE(pointer.offset, headerBytes + 4, 6)
  stored.writeUInt32BE(pointer.length, headerBytes + 10)
  stored.writeUInt32BE(pointer.crc, headerBytes + 14)
  return stored
}

export function pointerOf(stored: Bytes): Pointer {
  const bytes = view(stored)
  return {
    segment: bytes.readUInt32BE(headerBytes),
    offset: bytes.readUIntBE(headerBytes + 4, 6),
    length: bytes.readUInt32BE(headerBytes + 10),
    crc: bytes.readUInt32BE(headerBytes + 14),
  }
}

export function sealObject(version: bigint, { id, size, sha256 }: ObjectPlace): Bytes {
  const stored = header(kinds.object, version, 52)
  stored.set(id, headerBytes)
  stored.writeUInt32BE(size, headerBytes + 16)
  stored.set(sha256, headerBytes + 20)
  return stored
}

/** Also accepts the first octets of a stored value; see `objectHeadBytes`. */
export const objectIdOf = (stored: Bytes): Bytes => stored.subarray(headerBytes, objectHeadBytes)

/** Length of the head of a stored value. It contains the kind, the version, and the number of a counter or the id of an object. */
export const objectHeadBytes = headerBytes + 16

export const objectOf = (stored: Bytes): ObjectPlace => ({
  id: objectIdOf(stored),
  size: view(stored).readUInt32BE(headerBytes + 16),
  sha256: stored.subarray(headerBytes + 20, headerBytes + 52),
})

/** The latest version in halves. A write gives many values the same version, and splitting a big integer is slow. */
let halves = { version: 0n, high: 0, low: 0 }

function header(kind: number, version: bigint, payloadBytes: number): Buffer {
  if (version !== halves.version) halves = { version, high: Number(version >> 32n), low: Number(version & 0xffff_ffffn) }
  const stored = Buffer.allocUnsafe(headerBytes + payloadBytes)
  stored[0] = kind
  stored.writeUInt32BE(halves.high, 1)
  stored.writeUInt32BE(halves.low, 5)
  return stored
}
