/** Stores the versions of records in the store, so that an older release does not start on records that it cannot read. */
import { Change, encode } from '../change.ts'
import type { Database } from '../database.ts'
import { formOf, versionsKey, type StoreForm } from './store-form.ts'

/** Stores the versions above 1 that this release writes. Call it after `requireReadable` and before any write of records. */
export async function claimVersions(database: Database, { kinds: ours }: StoreForm): Promise<void> {
  const { kinds: noted } = await formOf(database.kv)
  const raised = Object.entries(ours).filter(([name, version]) => version > (noted[name] ?? 1))
  if (raised.length > 0) await database.commit(new Change().set(versionsKey, encode({ ...noted, ...Object.fromEntries(raised) })))
}
