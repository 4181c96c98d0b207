/** Schedules notifications and the webhook of a submission that is not spam, in the same write. */
import type { Database } from '#store/database.ts'
import type { Transaction } from '../../writes/transact.ts'
import type { Form } from '../form.ts'
import type { FormSubmission } from '../submissions/submission.ts'
import { announceSubmission } from './form-webhook.ts'
import { addNotice } from './notice-rows.ts'
import { formNotifications } from './notification.ts'

/** Returns the submission with its webhook delivery. Notifications that were sent before are not repeated; see `notice-trail.ts`. */
export async function followSubmission(
  database: Database,
  change: Transaction,
  organizationId: string,
  form: Form,
  submission: FormSubmission,
  nowMs: number,
): Promise<FormSubmission> {
  const settings = (await change.get(formNotifications, form.id))?.record
  if (!settings) return submission
  const { id: submissionId } = submission
  if (settings.recipients.length > 0)
    addNotice(change, { dueMs: nowMs, organizationId, formId: form.id, submissionId, recipientId: '', tries: 0 })
  if (settings.webhookUrl === null || submission.webhookDeliveryId !== null) return submission
  return { ...submission, webhookDeliveryId: announceSubmission(database, change, organizationId, form, submission, nowMs) }
}
