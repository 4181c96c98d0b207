/**
 * Reads the end of LevelDB's write-ahead log before LevelDB does: damage there makes its recovery drop the rest of the block
 * of 32 KiB without an error, and with it groups that were acknowledged. The format is that of LevelDB's log_format document.
 */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bytes } from '../kv.ts'

const blockBytes = 32 * 1024
/** Masked CRC-32C (4), length (2), type (1). */
const headerBytes = 7
const whole = 1
const lastPart = 4
/** The number of a group stands in the last bytes of its record, because the stamp is its last operation. */
const numberBytes = 8

const table = Uint32Array.from({ length: 256 }, (_, i) => {
  let crc = i
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  return crc
})

/** The number of the last group that was durable, as far as the log still shows it; 0 otherwise. */
export async function lastGroupInLog(folder: string): Promise<number> {
  const files = await readdir(folder).catch(() => [])
  for (const name of files
    .filter((file) => file.endsWith('.log'))
    .toSorted()
    .toReversed()) {
    // a log may disappear when another process has the folder; opening it then fails with the right words
    const number = await lastGroupOf(join(folder, name)).catch(() => 0)
    if (number > 0) return number
  }
  return 0
}

/** Whether the newest log may hold all of the group, whose write failed. True if the log cannot be read. */
export async function mayHoldGroup(folder: string, group: number): Promise<boolean> {
  try {
    const newest = (await readdir(folder))
      .filter((file) => file.endsWith('.log'))
      .toSorted()
      .at(-1)
    return newest === undefined || (await lastGroupOf(join(folder, newest), 0)) >= group
  } catch {
    return true
  }
}

async function lastGroupOf(path: string, afterLastPart = -1): Promise<number> {
  await using file = await open(path, 'r')
  const { size } = await file.stat()
  for (let start = size - (size % blockBytes || blockBytes); start >= 0; start -= blockBytes) {
    const block = Buffer.alloc(Math.min(blockBytes, size - start))
    await file.read(block, 0, block.length, start)
    const number = lastGroupOfBlock(block, afterLastPart)
    if (number > 0) return number
  }
  return 0
}

function lastGroupOfBlock(block: Buffer, afterLastPart: number): number {
  let last = 0
  for (let at = 0; at + headerBytes <= block.length;) {
    const length = block.readUInt16LE(at + 4)
    const type = block[at + 6] ?? 0
    const end = at + headerBytes + length
    if (type === 0 || end > block.length || block.readUInt32LE(at) !== maskedCrc(block.subarray(at + 6, end))) {
      at++ // no record begins here; the next one is sought byte by byte
      continue
    }
    const number = length < numberBytes ? 0 : Number(block.readBigUInt64BE(end - numberBytes))
    // the end of a record whose beginning may be lost says only that the group before it was complete
    if (type === whole) last = number
    else if (type === lastPart) last = number + afterLastPart
    at = end
  }
  return last
}

function maskedCrc(bytes: Bytes): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  crc = ~crc >>> 0
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}
