/** A snapshot of the whole store at one group commit: rows as they lie in LevelDB, with the values that stand in the value log. */
import type { Bytes } from '../kv.ts'
import { kindOf, kinds, pointerOf, versionOf } from './codec.ts'
import type { ValueLog } from './value-log.ts'

/** A row for a backup. `large`: the value stood in the value log; `same`: it has not changed since an earlier backup, and is left out. */
export interface SnapshotRow {
  readonly kind: 'inline' | 'large' | 'same'
  readonly key: Bytes
  readonly version: bigint
  /** As it lies in LevelDB, or the value of `large`; empty for `same`. */
  readonly body: Bytes
}

/** To be disposed; until then it holds the space of what was deleted meanwhile. */
export interface StoreSnapshot extends AsyncDisposable {
  /** Of the last write in it. */
  readonly version: bigint
  readonly rows: AsyncIterable<SnapshotRow>
}

/** The iterator of LevelDB, bound to a moment. */
export interface FrozenRows {
  nextv(size: number): Promise<[Bytes, Bytes][]>
}

/** Our own keys, whose versions are of another kind. */
const ownPrefix = 0xff
const rowsAtOnce = 256
const nothing = Buffer.alloc(0)

/** In the order of the keys. Rows of versions up to `since` come without their values. */
export async function* snapshotRows(rows: FrozenRows, log: ValueLog, since: bigint): AsyncGenerator<SnapshotRow> {
  for (let some = await rows.nextv(rowsAtOnce); some.length > 0; some = await rows.nextv(rowsAtOnce)) {
    for (const [key, stored] of some) {
      const version = versionOf(stored)
      if (version <= since && key[0] !== ownPrefix) yield { kind: 'same', key, version, body: nothing }
      else if (kindOf(stored) === kinds.pointer) yield { kind: 'large', key, version, body: await log.read(pointerOf(stored)) }
      else yield { kind: 'inline', key, version, body: stored }
    }
    await new Promise(setImmediate) // mail comes first
  }
}
