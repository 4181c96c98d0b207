/** The versions in which records were written to a store, noted in it, so that an older release does not start on what it cannot read. */
import { Change, decode, encode } from './change.ts'
import type { Database } from './database.ts'
import { StoreUnavailable } from './kv.ts'
import { globalKey, type AnyKind } from './record-kind.ts'
import { versionOf } from './record-version.ts'
import { pack } from './tuple.ts'

/** The key's one element after that of keys that belong to no organization. */
export const versionsFamily = 'versions'

/**
 * Notes the versions above 1 in which this release writes records; to be called before it writes any. Throws `StoreUnavailable`
 * when a newer release has written to the store.
 */
export async function claimVersions(database: Database, kinds: readonly AnyKind[]): Promise<void> {
  const key = globalKey(versionsFamily)
  const row = await database.kv.get(pack(key))
  const noted = row ? decode<Readonly<Record<string, number>>>(row.value) : {}
  const ours = Object.fromEntries(kinds.map((kind) => [kind.name, versionOf(kind)]))
  const newer = Object.entries(noted).flatMap(([name, version]) => (version > (ours[name] ?? 1) ? [name] : []))
  if (newer.length > 0) {
    throw new StoreUnavailable(
      `The store was written by a newer release: this one cannot read its records of the kinds ${newer.join(', ')}. ` +
        'Start that release, or restore a backup from before it.',
    )
  }
  const raised = Object.entries(ours).filter(([name, version]) => version > (noted[name] ?? 1))
  if (raised.length > 0) await database.commit(new Change().set(key, encode({ ...noted, ...Object.fromEntries(raised) })))
}
