/** `postern verify` checks of webhook deliveries: each pending delivery has a due row, and each due row has a pending delivery. */
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import { dueKey, toDueRow, webhookDeliveries, type WebhookDelivery } from './delivery.ts'

export async function checkDelivery(database: Database, { id, endpointId, status, nextAttemptAt }: WebhookDelivery): Promise<string[]> {
  const waits = status === 'pending' || status === 'failed'
  if (waits !== (nextAttemptAt !== null))
    return [`its status is ${status}, but its next attempt is ${nextAttemptAt === null ? 'never' : 'due'}`]
  if (nextAttemptAt === null || (await database.kv.get(pack(dueKey(endpointId, nextAttemptAt, id))))) return []
  return ['its next attempt has no due row']
}

export async function checkDue(database: Database, key: readonly Element[], value: Uint8Array): Promise<string[]> {
  const { organizationId, id, dueMs } = toDueRow({ key: pack(key), value })
  const stored = await database.get(webhookDeliveries, { organizationId }, id)
  return stored?.record.nextAttemptAt === dueMs ? [] : [`the delivery ${id} is not due at that time`]
}

export async function checkLoggedAttempt(database: Database, organizationId: string, id: string): Promise<string[]> {
  return (await database.get(webhookDeliveries, { organizationId }, id)) ? [] : [`the delivery ${id} that it belongs to is missing`]
}
