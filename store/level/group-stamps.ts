/**
 * LevelDB recovers leniently: damage in the middle of its log drops records without an error. So every group commit
 * leaves a numbered stamp in a ring; a number missing between others shows such a loss.
 */
import { seal, versionOf } from '../engine/codec.ts'
import type { Operation } from '../engine/group.ts'
import type { Bytes } from '../kv.ts'

/** More groups of the usual size than one of LevelDB's logs holds: what has left the log is safe in its tables. */
const ringSize = 65_536
const nothing = Buffer.alloc(0)

const stampKey = (slot: number): Buffer => Buffer.of(0xff, 0x02, slot >> 8, slot & 0xff)

/** The operation that stamps group `number` (from 1). The number stands in its last eight bytes, where `log-tail.ts` finds it. */
export const groupStamp = (number: number): Operation => ({
  type: 'put',
  key: stampKey(number % ringSize),
  value: seal(BigInt(number), nothing),
})

/**
 * A key that nothing is stored under. The deletion of it as the last operation of a batch ends in a number that is none, for batches that
 * are no groups.
 */
export const noNumber = Buffer.of(0xff, 0x03, 0, 0, 0, 0, 0, 0, 0, 0)

interface Stamps {
  iterator(options: { gte: Bytes; lt: Bytes }): AsyncIterable<[Bytes, Bytes]>
}

/** More groups than the damaged end of a log can have held; a larger number was not one of ours. */
const maxLostAtEnd = 65_536

/** The last group, and those missing before it. The log may know of later groups than were recovered from it. */
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
