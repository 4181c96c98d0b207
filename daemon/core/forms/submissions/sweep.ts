/** Removes submissions that exceed the retention in the newest version of their form. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { forms, formVersions, versionId, type Form } from '../form.ts'
import { removeFollowed } from './followed.ts'
import { formSubmissions, removeSubmission } from './submission.ts'

/** `stopping` is called between two writes. */
interface SweepWork {
  readonly database: Database
  readonly stopping: () => boolean
}

const dayMs = 86_400_000
/** Maximum number of rows per write. */
const batch = 100

/** Returns the number of removed submissions. */
export async function sweepSubmissions(work: SweepWork, organizationId: string, nowMs: number): Promise<number> {
  let removed = 0
  for (const { record: form } of await work.database.all(forms, { organizationId })) {
    if (work.stopping()) break
    const keptDays = form.version > 0 ? await retentionOf(work.database, organizationId, form) : null
    if (keptDays !== null) removed += await removeBefore(work, organizationId, form.id, nowMs - keptDays * dayMs)
  }
  return removed
}

async function retentionOf(database: Database, organizationId: string, { id, version }: Form): Promise<number | null> {
  const stored = await database.get(formVersions, { organizationId }, versionId(id, version))
  return stored?.record.definition.settings.retention_days ?? null
}

/** Removes the oldest first. Submissions that change concurrently wait for the next round. */
async function removeBefore({ database, stopping }: SweepWork, organizationId: string, formId: string, beforeMs: number): Promise<number> {
  let removed = 0
  while (!stopping()) {
    const { rows } = await database.list(
      formSubmissions,
      { organizationId },
      { values: [formId], limit: batch, ascending: true, forWork: true },
    )
    const old = rows.filter(({ record }) => record.createdAt < beforeMs)
    const change = new Change()
    for (const stored of old) {
      await removeFollowed(database, change, organizationId, stored.record)
      removeSubmission(change, organizationId, stored)
    }
    if (old.length === 0 || !(await database.commit(change)).ok) break
    removed += old.length
    if (old.length < rows.length) break
  }
  return removed
}
