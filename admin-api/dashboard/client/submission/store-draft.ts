/** Stores the written reply as a draft. Sending then refers to exactly this draft. */
import { call } from '../app/api.ts'
import type { InputOf } from '../wire/operation.ts'
import {
  createFormReplyDraft,
  deleteFormReplyDraft,
  updateFormReplyDraft,
  type FormReply,
  type FormSubmission,
} from '../wire/operations.ts'

export type Written = InputOf<typeof createFormReplyDraft>['body']

/** A stored draft and the input that it was stored from. `written` is undefined for an existing draft. */
export interface Kept {
  readonly draft: FormReply
  readonly written: Written | undefined
}

/** Returns the stored draft if the input is unchanged. Otherwise changes or replaces it. Throws if the draft was already sent. */
export async function storeDraft(submission: FormSubmission, written: Written, kept: Kept | undefined): Promise<Kept> {
  const { form_id: id, id: submission_id } = submission
  if (kept && JSON.stringify(kept.written) === JSON.stringify(written)) return kept
  const path = kept && { id, draft_id: kept.draft.id }
  const { template_id: template, template_vars: _, ...content } = written
  if (kept && path && template === undefined && kept.draft.html === null)
    return { draft: await call(updateFormReplyDraft, { path, body: content }), written }
  if (path) await call(deleteFormReplyDraft, { path })
  return { draft: await call(createFormReplyDraft, { path: { id, submission_id }, body: written }), written }
}
