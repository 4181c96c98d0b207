/**
 * Reads the end of LevelDB's write-ahead log before LevelDB does. Damage there makes LevelDB's recovery drop the remaining octets of a 32
 * KiB block without an error, including acknowledged groups.
 */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { blockBytes, partsIn } from './files/log-records.ts'

/** The last bytes of a record contain the number of its group, because the stamp is its last operation. */
const numberBytes = 8

/** Returns the number of the last durable group in the log; 0 without one. */
export async function lastGroupInLog(folder: string): Promise<number> {
  const files = await readdir(folder).catch(() => [])
  for (const name of files
    .filter((file) => file.endsWith('.log'))
    .toSorted()
    .toReversed()) {
    // a log may disappear while another process uses the folder; opening it then fails with the right message
    const number = await lastGroupOf(join(folder, name)).catch(() => 0)
    if (number > 0) return number
  }
  return 0
}

/** Returns whether the newest log may contain the whole group, whose write failed. True if the log is unreadable. */
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
  for (const part of partsIn(block)) {
    if ('gapAt' in part || part.data.length < numberBytes) continue
    const number = Number(part.data.readBigUInt64BE(part.data.length - numberBytes))
    // The end of a record whose start may be lost proves only that the previous group was complete.
    if (part.type === 'whole' && number > 0) last = number
    else if (part.type === 'last') last = number + afterLastPart
  }
  return last
}
