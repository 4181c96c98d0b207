/** Stores the written reply as a draft. Sending then refers to exactly this draft. */
import { call } from '../app/api.ts'
import type { FormReply, FormSubmission } from '../wire/api.d.ts'
import type { Input } from '../wire/route.ts'

export type Written = Input<'POST /v1/forms/{id}/submissions/{submission_id}/reply-drafts'>['body']

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
    return { draft: await call('PATCH /v1/forms/{id}/reply-drafts/{draft_id}', { path, body: content }), written }
  if (path) await call('DELETE /v1/forms/{id}/reply-drafts/{draft_id}', { path })
  return {
    draft: await call('POST /v1/forms/{id}/submissions/{submission_id}/reply-drafts', { path: { id, submission_id }, body: written }),
    written,
  }
}
