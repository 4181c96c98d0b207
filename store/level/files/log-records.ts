/**
 * The log format of LevelDB, which its write-ahead log and its MANIFEST use: blocks of 32 KiB with records. Long records have several
 * parts. See LevelDB's log_format document.
 */
import { crc32c, flippedBit, masked, type Bit } from './crc32c.ts'

export const blockBytes = 32 * 1024
/** Masked CRC-32C (4), length (2), type (1). */
const headerBytes = 7

/** A record or a part of a record in a block. Its checksum is correct. */
export interface LogPart {
  readonly type: 'whole' | 'first' | 'middle' | 'last'
  /** Offset in the block. */
  readonly at: number
  readonly data: Buffer
}

/** A place in a block without a valid record. */
interface Gap {
  readonly gapAt: number
}

const typeNames = ['', 'whole', 'first', 'middle', 'last'] as const

/** Returns all parts and gaps in a block. After a gap, it searches octet by octet for the next record. */
export function* partsIn(block: Buffer): Generator<LogPart | Gap, void> {
  let isGap = false
  for (let at = 0; at + headerBytes <= block.length;) {
    const type = typeNames[block[at + 6] as number]
    const end = at + headerBytes + block.readUInt16LE(at + 4)
    if (type && end <= block.length && block.readUInt32LE(at) === masked(crc32c(block, at + 6, end))) {
      isGap = false
      yield { type, at, data: block.subarray(at + headerBytes, end) }
      at = end
      continue
    }
    if (!isGap) yield { gapAt: at }
    isGap = true
    at++
  }
}

/** Returns the blocks of a log with their offsets. */
export function* blocksOf(log: Buffer): Generator<readonly [block: Buffer, start: number]> {
  for (let start = 0; start < log.length; start += blockBytes) yield [log.subarray(start, start + blockBytes), start]
}

/**
 * Finds the first damage in blocks of a log and returns its offset. A process that ends during a write leaves a torn end, which is not
 * damage, because no write of it was acknowledged. Two signs distinguish damage. A record follows, which is written only after the earlier
 * record is on disk; or one flipped bit explains the gap.
 */
export class DamageFinder {
  #gapAt: number | undefined

  look(block: Buffer, start: number): number | undefined {
    for (const part of partsIn(block)) {
      if ('gapAt' in part) {
        this.#gapAt ??= start + part.gapAt
        if (bitInRecord(block, part.gapAt)) return start + part.gapAt
      } else if (this.#gapAt !== undefined && (part.type === 'whole' || part.type === 'first')) return this.#gapAt
    }
    return undefined
  }
}

/** Returns the offset of the first damage in a log. */
export function firstDamage(log: Buffer): number | undefined {
  const finder = new DamageFinder()
  for (const [block, start] of blocksOf(log)) {
    const at = finder.look(block, start)
    if (at !== undefined) return at
  }
  return undefined
}

/** Returns the single flipped bit that makes a record invalid. */
export function bitInRecord(block: Buffer, at: number): Bit | undefined {
  if (at + headerBytes > block.length) return undefined
  const length = block.readUInt16LE(at + 4)
  const endOf = (octets: number): number => at + headerBytes + octets
  const bit = endOf(length) <= block.length ? flippedBit(block, at + 6, endOf(length), at) : undefined
  if (bit) return bit
  for (let inLength = 0; inLength < 16; inLength++) {
    const end = endOf(length ^ (1 << inLength))
    if (end <= block.length && block.readUInt32LE(at) === masked(crc32c(block, at + 6, end)))
      return { at: at + 4 + (inLength >> 3), mask: 1 << (inLength & 7) }
  }
  return undefined
}

/** Returns the whole records of an undamaged log, without a torn end. */
export function* recordsIn(log: Buffer): Generator<Buffer> {
  let parts: Buffer[] = []
  for (const [block] of blocksOf(log)) {
    for (const part of partsIn(block)) {
      if ('gapAt' in part) return
      if (part.type === 'whole' || part.type === 'first') parts = []
      parts.push(part.data)
      if (part.type === 'whole' || part.type === 'last') yield Buffer.concat(parts)
    }
  }
}
