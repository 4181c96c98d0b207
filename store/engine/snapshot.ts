/** What a snapshot of the whole store consists of, whichever engine keeps it. */
import type { Bytes } from '../kv.ts'

/** A row for a backup. `large`: a value that stands apart; `same`: it has not changed since an earlier backup, and is left out. */
export interface SnapshotRow {
  readonly kind: 'inline' | 'large' | 'same'
  readonly key: Bytes
  readonly version: bigint
  /** As it is stored, or the value of `large`; empty for `same`. */
  readonly body: Bytes
}

/** To be disposed; until then it holds the space of what was deleted meanwhile. */
export interface StoreSnapshot extends AsyncDisposable {
  /** Of the last write in it. */
  readonly version: bigint
  readonly rows: AsyncIterable<SnapshotRow>
}
