/** Actions on submissions: status changes with undo, and deletion. Errors appear as toasts. */
import { call } from '../app/api.ts'
import { showFault } from '../app/query.ts'
import { toast } from '../parts/toast.tsx'
import type { FormSubmission } from '../wire/api.d.ts'
import type { Status } from './filter.ts'
import { texts } from './submissions-texts.ts'

type Changes = Partial<Pick<FormSubmission, 'status' | 'tags' | 'assignee' | 'note'>>

/** Latest status that this window set, by submission id. Responses that were in flight during a change may be older. */
const made = new Map<string, string>()

/** Whether the submission is new, including changes by this window. */
export const isUnseen = ({ id, status }: FormSubmission): boolean => status === 'new' && (made.get(id) ?? 'new') === 'new'

export async function change({ form_id: id, id: submission_id }: FormSubmission, body: Changes): Promise<FormSubmission> {
  const changed = await call('PATCH /v1/forms/{id}/submissions/{submission_id}', { path: { id, submission_id }, body })
  made.set(changed.id, changed.status)
  return changed
}

/** Returns undefined after an error. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    showFault(error)
    return undefined
  }
}

/** Returns the changed submission. Calls `onUndone` after an undo. */
export async function setStatus(submission: FormSubmission, status: Status, onUndone: () => void): Promise<FormSubmission | undefined> {
  const changed = await attempt(() => change(submission, { status }))
  if (!changed) return undefined
  const undo = async (): Promise<void> => {
    if (await attempt(() => change(changed, { status: submission.status }))) onUndone()
  }
  toast(texts().markedAs({ status, n: 1 }), () => void undo())
  return changed
}

export type BulkAction = 'not_spam' | 'spam' | 'archive' | 'delete'

const statusAfter = { not_spam: 'new', spam: 'spam', archive: 'archived' } as const

/** Changes submissions with one request per form. Returns whether it succeeded. */
export async function changeMany(chosen: readonly FormSubmission[], action: BulkAction, onUndone: () => void): Promise<boolean> {
  const ofForms = Map.groupBy(chosen, ({ form_id: id }) => id)
  for (const { id } of chosen) made.set(id, action)
  const done = await attempt(async () => {
    for (const [id, ofForm] of ofForms)
      await call('POST /v1/forms/{id}/submissions/bulk', { path: { id }, body: { ids: ofForm.map((one) => one.id), action } })
    return true
  })
  for (const { id } of chosen)
    if (done && action !== 'delete') made.set(id, statusAfter[action])
    else made.delete(id)
  if (!done || action === 'delete') return done === true
  const undo = async (): Promise<void> => {
    const undone = await attempt(() => Promise.all(chosen.map((one) => change(one, { status: one.status }))))
    if (undone) onUndone()
  }
  toast(texts().markedAs({ status: statusAfter[action], n: chosen.length }), () => void undo())
  return true
}
