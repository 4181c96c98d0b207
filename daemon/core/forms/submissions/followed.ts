/** What came of a submission goes with it: replies, which mails went out for it, and what the webhook of its form was or is to be sent. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { removeDelivery, webhookDeliveries } from '../../webhooks/delivery.ts'
import { removeTrail } from '../notifications/notice-trail.ts'
import { removeReplies } from '../replies/reply.ts'
import type { FormSubmission } from './submission.ts'

export async function removeFollowed(
  database: Database,
  change: Change,
  organizationId: string,
  submission: Pick<FormSubmission, 'id' | 'formId' | 'webhookDeliveryId'>,
): Promise<void> {
  await removeReplies(database, change, organizationId, submission)
  await removeTrail(database, change, organizationId, submission)
  const { webhookDeliveryId } = submission
  const delivery = webhookDeliveryId === null ? undefined : await database.get(webhookDeliveries, { organizationId }, webhookDeliveryId)
  if (delivery) removeDelivery(change, organizationId, delivery)
}
