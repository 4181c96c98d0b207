/**
 * Reads the end of LevelDB's write-ahead log before LevelDB does: damage there makes its recovery drop the rest of the block
 * of 32 KiB without an error, and with it groups that were acknowledged.
 */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { blockBytes, partsIn } from './files/log-records.ts'

/** The number of a group stands in the last bytes of its record, because the stamp is its last operation. */
const numberBytes = 8

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
  for (const part of partsIn(block)) {
    if ('gapAt' in part || part.data.length < numberBytes) continue
    const number = Number(part.data.readBigUInt64BE(part.data.length - numberBytes))
    // the end of a record whose beginning may be lost says only that the group before it was complete
    if (part.type === 'whole' && number > 0) last = number
    else if (part.type === 'last') last = number + afterLastPart
  }
  return last
}
