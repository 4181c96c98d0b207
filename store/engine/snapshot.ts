/** Content of a snapshot of the whole store, for all engines. */
import type { Bytes } from '../kv.ts'

/** A row for a backup. `large`: a value stored separately. `same`: unchanged since an earlier backup, without its value. */
export interface SnapshotRow {
  readonly kind: 'inline' | 'large' | 'same'
  readonly key: Bytes
  readonly version: bigint
  /** The stored form of the value; for `large`, the value itself; for `same`, empty. */
  readonly body: Bytes
}

/** Dispose it after use: until then it keeps the space of deleted values occupied. */
export interface StoreSnapshot extends AsyncDisposable {
  /** Version of the last write in the snapshot. */
  readonly version: bigint
  readonly rows: AsyncIterable<SnapshotRow>
}
