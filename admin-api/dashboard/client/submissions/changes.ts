/** What is done with submissions: their status with a way back, and their end; a refusal is said in a toast. */
import { call } from '../app/api.ts'
import { asFault } from '../app/query.ts'
import { toast } from '../parts/toast.tsx'
import { changeFormSubmissions, updateFormSubmission, type FormSubmission } from '../wire/operations.ts'
import type { Status } from './filter.ts'
import { words } from './submissions-words.ts'

type Changes = Partial<Pick<FormSubmission, 'status' | 'tags' | 'assignee' | 'note'>>

/** What this window last made of submissions: an answer that was on its way meanwhile does not know it. */
const made = new Map<string, string>()

/** It is new, as far as this window knows. */
export const isUnseen = ({ id, status }: FormSubmission): boolean => status === 'new' && (made.get(id) ?? 'new') === 'new'

export async function change({ form_id: id, id: submission_id }: FormSubmission, body: Changes): Promise<FormSubmission> {
  const changed = await call(updateFormSubmission, { path: { id, submission_id }, body })
  made.set(changed.id, changed.status)
  return changed
}

/** Undefined where it was refused. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    toast(asFault(error).message)
    return undefined
  }
}

/** Returns it as it is now; `onUndone` is called when the way back was taken. */
export async function setStatus(submission: FormSubmission, status: Status, onUndone: () => void): Promise<FormSubmission | undefined> {
  const changed = await attempt(() => change(submission, { status }))
  if (!changed) return undefined
  const undo = async (): Promise<void> => {
    if (await attempt(() => change(changed, { status: submission.status }))) onUndone()
  }
  toast(words().markedAs({ status, n: 1 }), () => void undo())
  return changed
}

export type BulkAction = 'not_spam' | 'spam' | 'archive' | 'delete'

const statusAfter = { not_spam: 'new', spam: 'spam', archive: 'archived' } as const

/** In one write for each form. Returns whether it was done. */
export async function changeMany(chosen: readonly FormSubmission[], action: BulkAction, onUndone: () => void): Promise<boolean> {
  const ofForms = Map.groupBy(chosen, ({ form_id: id }) => id)
  for (const { id } of chosen) made.set(id, action)
  const done = await attempt(async () => {
    for (const [id, ofForm] of ofForms)
      await call(changeFormSubmissions, { path: { id }, body: { ids: ofForm.map((one) => one.id), action } })
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
  toast(words().markedAs({ status: statusAfter[action], n: chosen.length }), () => void undo())
  return true
}
