/** Updates a reply and its submission in the write that sends its message or decides its approval. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { count, projectNames } from '../../insights/count.ts'
import { waitsForApproval } from '../../trace/approval/held-trace.ts'
import type { Trace } from '../../trace/trace.ts'
import { forms } from '../form.ts'
import { formSubmissions, replaceSubmission } from '../submissions/submission.ts'
import { afterWaiting, formReplies, type FormReply } from './reply.ts'

/** Updates the reply for its accepted message: sent, or pending approval. */
export async function stageMessage(
  database: Database,
  change: Change,
  organizationId: string,
  { stored, trace }: { readonly stored: Stored<FormReply>; readonly trace: Trace },
): Promise<FormReply> {
  const { id: traceId, createdAt: now } = trace
  if (!waitsForApproval(trace)) return stageSent(database, change, organizationId, { stored, traceId, now })
  const held: FormReply = { ...stored.record, heldTraceId: traceId, updatedAt: now }
  change.replace(formReplies, organizationId, stored, held)
  return held
}

/** Marks the reply as sent and its submission as replied. */
async function stageSent(
  database: Database,
  change: Change,
  organizationId: string,
  { stored, traceId, now }: { readonly stored: Stored<FormReply>; readonly traceId: string; readonly now: number },
): Promise<FormReply> {
  const reply = afterWaiting(stored.record, traceId, now)
  change.replace(formReplies, organizationId, stored, reply)
  const submission = await database.get(formSubmissions, { organizationId }, reply.submissionId)
  const form = await database.get(forms, { organizationId }, reply.formId)
  if (!form || !submission || submission.record.status === 'replied') return reply
  replaceSubmission(change, organizationId, submission, { ...submission.record, status: 'replied', updatedAt: now })
  count(change, { organizationId, projectId: form.record.projectId }, [projectNames.formSubmissionChanged], now)
  return reply
}

/** Marks the reply of an approved message as sent. After a rejection or an expired approval, the reply becomes a draft again. */
export async function followDecision(database: Database, change: Change, organizationId: string, decided: Trace): Promise<void> {
  const walk = { index: 'held', values: [decided.id], limit: 1, forWork: true } as const
  const [stored] = (await database.list(formReplies, { organizationId }, walk)).rows
  if (!stored) return
  const { updatedAt: now } = decided
  if (decided.approval?.decision?.as === 'approved') await stageSent(database, change, organizationId, { stored, traceId: decided.id, now })
  else change.replace(formReplies, organizationId, stored, afterWaiting(stored.record, undefined, now))
}
