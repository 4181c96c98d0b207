/** A snapshot of the whole store at one group commit: stored rows, with values from the value log. */
import type { SnapshotRow } from '../engine/snapshot.ts'
import type { Bytes } from '../kv.ts'
import { kindOf, kinds, pointerOf, versionOf } from '../engine/codec.ts'
import { outOfOrder } from './known-damage.ts'
import type { ValueLog } from './value-log.ts'

/** Iterator of LevelDB over one state. */
export interface FrozenRows {
  nextv(size: number): Promise<[Bytes, Bytes][]>
}

/** First octet of internal keys, which have other versions. */
const ownPrefix = 0xff
const rowsAtOnce = 256
const nothing = Buffer.alloc(0)

/** Returns rows in key order. Rows of versions up to `since` come without their values. Throws `StoreDamaged`. */
export async function* snapshotRows(rows: FrozenRows, log: ValueLog, since: bigint): AsyncGenerator<SnapshotRow> {
  let last: Bytes = nothing
  for (let some = await rows.nextv(rowsAtOnce); some.length > 0; some = await rows.nextv(rowsAtOnce)) {
    for (const [key, stored] of some) {
      if (Buffer.compare(last, key) >= 0) throw outOfOrder(key)
      last = key
      const version = versionOf(stored)
      if (version <= since && key[0] !== ownPrefix) yield { kind: 'same', key, version, body: nothing }
      else if (kindOf(stored) === kinds.pointer) yield { kind: 'large', key, version, body: await log.read(pointerOf(stored)) }
      else yield { kind: 'inline', key, version, body: stored }
    }
    await new Promise(setImmediate) // lets the processing of mail go first
  }
}
