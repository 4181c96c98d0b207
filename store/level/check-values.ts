/** Reads all large values of an open store and compares them with their checksums. */
import { keyAfter } from '../cursor.ts'
import { kindOf, kinds, pointerOf } from '../engine/codec.ts'
import type { Look } from '../engine/group.ts'
import type { Rest } from '../engine/store-kv.ts'
import type { Bytes } from '../kv.ts'
import type { FileDamage } from './files/check-files.ts'
import { segmentName, type ValueLog } from './value-log.ts'

/** Reads rows from a key, up to a limit. */
type Walk = (gte: Bytes, limit: number) => AsyncIterable<readonly [Bytes, Bytes]>

const rowsAtOnce = 256

/** Returns all rows in key order in small reads. A long iterator would keep files that LevelDB has replaced. */
export async function* rowsOf(walk: Walk): AsyncGenerator<readonly (readonly [Bytes, Bytes])[]> {
  for (let gte: Bytes = Buffer.of(0); ;) {
    const rows = await Array.fromAsync(walk(gte, rowsAtOnce))
    const last = rows.at(-1)
    if (!last) return
    yield rows
    gte = keyAfter(last[0])
  }
}

export async function damagedValues(walk: Walk, log: ValueLog, look: Look, rest: Rest): Promise<FileDamage[]> {
  const found: FileDamage[] = []
  for await (const rows of rowsOf(walk)) {
    for (const [key, stored] of rows) {
      if (kindOf(stored) !== kinds.pointer) continue
      if (!(await isReadable(log, look, key, stored))) found.push(valueDamage(stored))
      await rest()
    }
    await rest()
  }
  return found
}

async function isReadable(log: ValueLog, look: Look, key: Bytes, stored: Bytes): Promise<boolean> {
  try {
    await log.read(pointerOf(stored), true)
    return true
  } catch {
    const again = look(key)
    return !again || Buffer.compare(again, stored) !== 0 // the row was deleted or moved since
  }
}

export function valueDamage(stored: Bytes): FileDamage {
  const { segment, offset } = pointerOf(stored)
  return { file: segmentName(segment), problem: `is damaged at octet ${offset}` }
}
