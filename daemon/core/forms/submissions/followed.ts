/** Removes records that follow from a submission: replies, notification rows, and its webhook delivery. */
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
