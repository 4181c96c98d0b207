/**
 * The log format of LevelDB, in which its write-ahead log and its MANIFEST are written: blocks of 32 KiB with records, of which long
 * ones are in several parts. See LevelDB's log_format document.
 */
import { crc32c, isOneBitOff, masked } from './crc32c.ts'

export const blockBytes = 32 * 1024
/** Masked CRC-32C (4), length (2), type (1). */
const headerBytes = 7

/** A record in a block, or a part of one, that has its checksum. */
export interface LogPart {
  readonly type: 'whole' | 'first' | 'middle' | 'last'
  readonly data: Buffer
}

/** No record begins here, where one should. */
interface Gap {
  readonly gapAt: number
}

const typeNames = ['', 'whole', 'first', 'middle', 'last'] as const

/** Everything in a block. Behind a gap the next record is sought octet by octet. */
export function* partsIn(block: Buffer): Generator<LogPart | Gap, void> {
  let isGap = false
  for (let at = 0; at + headerBytes <= block.length;) {
    const type = typeNames[block[at + 6] as number]
    const end = at + headerBytes + block.readUInt16LE(at + 4)
    if (type && end <= block.length && block.readUInt32LE(at) === masked(crc32c(block, at + 6, end))) {
      isGap = false
      yield { type, data: block.subarray(at + headerBytes, end) }
      at = end
      continue
    }
    if (!isGap) yield { gapAt: at }
    isGap = true
    at++
  }
}

/** Blocks of a log with their offsets. */
export function* blocksOf(log: Buffer): Generator<readonly [block: Buffer, start: number]> {
  for (let start = 0; start < log.length; start += blockBytes) yield [log.subarray(start, start + blockBytes), start]
}

/**
 * Finds the first damage in blocks of a log, and returns its offset. A process that ends while it writes leaves a torn end, which is no
 * damage: nothing of it was acknowledged. Two signs tell damage from that: a record begins behind it, which is written only after the
 * one before is on disk; or one flipped bit explains the gap.
 */
export class DamageFinder {
  #gapAt: number | undefined

  look(block: Buffer, start: number): number | undefined {
    for (const part of partsIn(block)) {
      if ('gapAt' in part) {
        this.#gapAt ??= start + part.gapAt
        if (isFlipped(block, part.gapAt)) return start + part.gapAt
      } else if (this.#gapAt !== undefined && (part.type === 'whole' || part.type === 'first')) return this.#gapAt
    }
    return undefined
  }
}

/** Whether one flipped bit keeps the octets from being a record. */
function isFlipped(block: Buffer, at: number): boolean {
  const length = block.readUInt16LE(at + 4)
  const stored = block.readUInt32LE(at)
  const endOf = (octets: number): number => at + headerBytes + octets
  if (endOf(length) <= block.length && isOneBitOff(block, at + 6, endOf(length), stored)) return true
  for (let bit = 1; bit < 0x10000; bit <<= 1) {
    const end = endOf(length ^ bit)
    if (end <= block.length && stored === masked(crc32c(block, at + 6, end))) return true
  }
  return false
}

/** The records of a log without damage, whole; a torn end is left out. */
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
