/** Makes a stored draft of what was written, so that what is sent is that draft and no other. */
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

/** A draft, and what it was made of; undefined for one that was there before. */
export interface Kept {
  readonly draft: FormReply
  readonly written: Written | undefined
}

/** The draft itself while nothing was changed; then one in its place. One that was sent meanwhile is refused. */
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
