/** What `verify` asks of webhook deliveries: each that waits is found when it is due, and nothing else is. */
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import { dueKey, toDueRow, webhookDeliveries, type WebhookDelivery } from './delivery.ts'

export async function checkDelivery(database: Database, { id, endpointId, status, nextAttemptAt }: WebhookDelivery): Promise<string[]> {
  const waits = status === 'pending' || status === 'failed'
  if (waits !== (nextAttemptAt !== null))
    return [`its status is ${status}, but its next attempt is ${nextAttemptAt === null ? 'never' : 'due'}`]
  if (nextAttemptAt === null || (await database.kv.get(pack(dueKey(endpointId, nextAttemptAt, id))))) return []
  return ['it waits for its next attempt, and nothing finds it then']
}

export async function checkDue(database: Database, key: readonly Element[], value: Uint8Array): Promise<string[]> {
  const { organizationId, id, dueMs } = toDueRow({ key: pack(key), value })
  const stored = await database.get(webhookDeliveries, { organizationId }, id)
  return stored?.record.nextAttemptAt === dueMs ? [] : [`the delivery ${id} is not due then`]
}

export async function checkLoggedAttempt(database: Database, organizationId: string, id: string): Promise<string[]> {
  return (await database.get(webhookDeliveries, { organizationId }, id)) ? [] : [`the delivery ${id} that it belongs to is missing`]
}
