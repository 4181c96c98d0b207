/** Adds a delivery to a write: the record, and a due row for an immediate first attempt. */
import { randomUUID } from 'node:crypto'
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { addDue, webhookDeliveries, type WebhookDelivery } from '../delivery.ts'

export type NewDelivery = Pick<WebhookDelivery, 'eventId' | 'eventType' | 'endpointId' | 'projectId' | 'traceId' | 'body'> & {
  /** Time of the write that adds the delivery, in milliseconds since the epoch. */
  readonly at: number
}

/** Adds the delivery. Returns its id. */
export function addDelivery(database: Database, change: Change, organizationId: string, { at, ...delivery }: NewDelivery): string {
  const id = database.newId('wha', at)
  change.insertUnchecked(webhookDeliveries, organizationId, {
    ...delivery,
    id,
    deliveryId: randomUUID(),
    status: 'pending',
    attemptCount: 0,
    begun: { at, attempts: 0 },
    lastStatusCode: null,
    lastError: null,
    nextAttemptAt: at,
    createdAt: at,
    updatedAt: at,
  })
  addDue(change, { endpointId: delivery.endpointId, dueMs: at, id, organizationId })
  return id
}
