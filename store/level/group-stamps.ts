/**
 * LevelDB recovers leniently: damage in the middle of its log drops records without an error. So every group commit
 * leaves a numbered stamp in a ring; a number missing between others tells of such a loss.
 */
import { seal } from './codec.ts'
import type { Operation } from './group.ts'
import type { Bytes } from '../kv.ts'

/** More groups than one of LevelDB's logs holds: what has left the log is safe in its tables. */
export const ringSize = 65_536
const nothing = Buffer.alloc(0)

const stampKey = (slot: number): Buffer => Buffer.of(0xff, 0x02, slot >> 8, slot & 0xff)

/** The operation that stamps group `number` (from 1). */
export const groupStamp = (number: number): Operation => ({
  type: 'put',
  key: stampKey(number % ringSize),
  value: seal(BigInt(number), nothing),
})

interface Stamps {
  iterator(options: { gte: Bytes; lt: Bytes }): AsyncIterable<[Bytes, Bytes]>
}

/** The last stamped group, and those missing before it. */
export async function missingGroups(db: Stamps): Promise<{ last: number; missing: readonly number[] }> {
  const seen = new Set<number>()
  for await (const [, stored] of db.iterator({ gte: stampKey(0), lt: Buffer.of(0xff, 0x03) })) {
    seen.add(Number(Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength).readBigUInt64BE(1)))
  }
  const last = Math.max(0, ...seen)
  const missing: number[] = []
  for (let number = Math.max(1, last - ringSize + 1); number <= last; number++) if (!seen.has(number)) missing.push(number)
  return { last, missing }
}
