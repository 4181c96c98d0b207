/**
 * LevelDB recovers leniently: damage in the middle of its log drops records without an error. So every group commit
 * leaves a numbered stamp in a ring; a number missing between others shows such a loss.
 */
import { seal, versionOf } from '../engine/codec.ts'
import type { Operation } from '../engine/group.ts'
import type { Bytes } from '../kv.ts'

/** More groups of the usual size than a log of LevelDB holds. Groups that left the log are safe in tables. */
const ringSize = 65_536
const nothing = Buffer.alloc(0)

const stampKey = (slot: number): Buffer => Buffer.of(0xff, 0x02, slot >> 8, slot & 0xff)

/** Returns the operation that stamps group `number` (from 1). The last eight bytes contain the number, where `log-tail.ts` finds it. */
export const groupStamp = (number: number): Operation => ({
  type: 'put',
  key: stampKey(number % ringSize),
  value: seal(BigInt(number), nothing),
})

/** A key without a value. Batches that are not groups end with a deletion of this key, whose last bytes are no valid number. */
export const noNumber = Buffer.of(0xff, 0x03, 0, 0, 0, 0, 0, 0, 0, 0)

interface Stamps {
  iterator(options: { gte: Bytes; lt: Bytes }): AsyncIterable<[Bytes, Bytes]>
}

/** More groups than the damaged end of a log can contain. A larger number is not a number of a group. */
const maxLostAtEnd = 65_536

/** Returns the last group, and the missing groups with lower numbers. The log may contain later groups than LevelDB recovered. */
export async function missingGroups(db: Stamps, lastInLog: number): Promise<{ last: number; missing: readonly number[] }> {
  const seen = new Set<number>()
  let recovered = 0
  for await (const [, stored] of db.iterator({ gte: stampKey(0), lt: Buffer.of(0xff, 0x03) })) {
    const number = Number(versionOf(stored))
    seen.add(number)
    recovered = Math.max(recovered, number)
  }
  const last = lastInLog > recovered && lastInLog - recovered <= maxLostAtEnd ? lastInLog : recovered
  const missing: number[] = []
  for (let number = Math.max(1, last - ringSize + 1); number <= last; number++) if (!seen.has(number)) missing.push(number)
  return { last, missing }
}
