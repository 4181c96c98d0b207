/** The versions in which records were written to a store, noted in it, so that an older release does not start on what it cannot read. */
import { Change, encode } from '../change.ts'
import type { Database } from '../database.ts'
import { formOf, versionsKey, type StoreForm } from './store-form.ts'

/** Notes the versions above 1 in which this release writes records; to be called before it writes any, and after `requireReadable`. */
export async function claimVersions(database: Database, { kinds: ours }: StoreForm): Promise<void> {
  const { kinds: noted } = await formOf(database.kv)
  const raised = Object.entries(ours).filter(([name, version]) => version > (noted[name] ?? 1))
  if (raised.length > 0) await database.commit(new Change().set(versionsKey, encode({ ...noted, ...Object.fromEntries(raised) })))
}
