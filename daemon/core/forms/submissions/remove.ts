/** Removes the submissions of deleted forms in small writes. It can stop between any two writes. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import { removeTrail } from '../notifications/notice-trail.ts'
import { removeReplies } from '../replies/reply.ts'
import { removeFiles } from '../uploads/submission-file.ts'
import { leftFormDays } from '../analytics/form-counts.ts'
import { formSubmissions, nonceKey, statusCounter, submissionStatuses, takenCounter } from './submission.ts'

/** `stopping` is called between two writes. */
export interface SubmissionRemoval {
  readonly database: Database
  readonly stopping: () => boolean
}

/** Maximum number of rows per write. */
const batch = 100

const leftoverKey = (...rest: readonly Element[]): readonly Element[] => globalKey('form.leftovers', ...rest)

/** See `Database.onWork`. */
export const formRemovalWork = 'form.leftovers'

/** Schedules the removal of submissions in the write that deletes the form. */
export const scheduleSubmissionRemoval = (change: Change, organizationId: string, formId: string): Change =>
  change.set(leftoverKey(organizationId, formId)).schedule(formRemovalWork, formId)

/** Removes the submissions of all deleted forms. */
export async function removeLeftSubmissions(work: SubmissionRemoval): Promise<void> {
  for await (const { key } of work.database.kv.range(within(leftoverKey()))) {
    const [, , organizationId = '', formId = ''] = unpack(key).map(String)
    const isDone = await removeSubmissions(work, organizationId, formId)
    if (isDone) await work.database.commit(new Change().delete(leftoverKey(organizationId, formId)))
  }
}

/** Removes submissions, used tokens and counts. Returns false if it was stopped. */
export async function removeSubmissions(
  { database, stopping }: SubmissionRemoval,
  organizationId: string,
  formId: string,
): Promise<boolean> {
  while (!stopping()) {
    const { rows } = await database.list(formSubmissions, { organizationId }, { values: [formId], limit: batch, forWork: true })
    const change = new Change()
    for (const stored of rows) {
      await removeReplies(database, change, organizationId, stored.record)
      await removeTrail(database, change, organizationId, stored.record)
      removeFiles(change, organizationId, stored.record)
      change.remove(formSubmissions, organizationId, stored)
    }
    const { start, end } = within(nonceKey(organizationId, formId, '').slice(0, -1))
    for await (const { key } of database.kv.range({ start, end, limit: batch })) change.deletes.push(key)
    change.deletes.push(...(await leftFormDays(database, organizationId, formId, batch)))
    const isLast = change.deletes.length === 0
    if (isLast) change.delete(takenCounter(organizationId, formId))
    if (isLast) for (const status of submissionStatuses) change.delete(statusCounter(organizationId, formId, status))
    await database.commit(change) // after a conflict, the next iteration reads the rows again
    if (isLast) return true
  }
  return false
}
