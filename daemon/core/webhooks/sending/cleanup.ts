/** Removes deliveries of deleted endpoints and old deliveries, in small writes. It can stop between any two writes. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey, indexPrefix } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import { receiverHealth } from '../receiver-health.ts'
import { removeDelivery, webhookDeliveries, type WebhookDelivery } from '../delivery.ts'

/** `stopping` is called between two writes. */
interface CleanupWork {
  readonly database: Database
  readonly stopping: () => boolean
}

/** Maximum number of deliveries per write. */
const batch = 100
/** Maximum number of consecutive conflicting writes. */
const maxFruitless = 100

const cleanupKey = (...rest: readonly Element[]): readonly Element[] => globalKey('webhook.leftovers', ...rest)

/** See `Database.onWork`. */
export const cleanupWork = 'webhook.leftovers'

/** Schedules the removal of an endpoint's deliveries in the write that deletes the endpoint. */
export const scheduleCleanup = (change: Change, organizationId: string, endpointId: string): Change =>
  change.set(cleanupKey(organizationId, endpointId)).schedule(cleanupWork, endpointId)

/** Removes the deliveries of all deleted endpoints. */
export async function cleanUp(work: CleanupWork): Promise<void> {
  for await (const { key } of work.database.kv.range(within(cleanupKey()))) {
    const [, , organizationId, endpointId] = unpack(key).map(String)
    if (organizationId === undefined || endpointId === undefined) continue
    const isDone = await removeDeliveries(work, organizationId, endpointId)
    if (isDone) await work.database.commit(new Change().delete(cleanupKey(organizationId, endpointId)))
  }
}

/** Removes all deliveries of an endpoint with its health, or those of a project's messages. Returns false if it was stopped. */
export async function removeDeliveries({ database, stopping }: CleanupWork, organizationId: string, place: string): Promise<boolean> {
  const all = within([...indexPrefix(webhookDeliveries.name, organizationId, 'listed'), place, ''])
  for (let fruitless = 0; !stopping();) {
    const ids: string[] = []
    for await (const { key } of database.kv.range({ ...all, limit: batch })) ids.push(String(unpack(key).at(-1)))
    const health = ids.length === 0 ? await database.get(receiverHealth, { organizationId }, place) : undefined
    if (ids.length === 0 && !health) return true
    const isRemoved = health
      ? (await database.commit(new Change().remove(receiverHealth, organizationId, health))).ok
      : await removeByIds(database, organizationId, ids, () => true)
    fruitless = isRemoved ? 0 : fruitless + 1
    if (fruitless > maxFruitless) throw new Error(`deliveries of ${place} cannot be removed; run postern verify`)
  }
  return false
}

const dayMs = 86_400_000
/** Retention of deliveries in days after their last change, limited by the plan's trace retention. */
const keptDays = { succeeded: 7, others: 30 }

/** Removes deliveries after their retention. */
export async function sweepDeliveries(
  { database, stopping }: CleanupWork,
  organizationId: string,
  { nowMs, retentionDays = Infinity }: { readonly nowMs: number; readonly retentionDays?: number | undefined },
): Promise<void> {
  const before = (days: number): number => nowMs - Math.min(days, retentionDays) * dayMs
  const limits = { succeeded: before(keptDays.succeeded), others: before(keptDays.others) }
  const isOld = ({ status, updatedAt }: WebhookDelivery): boolean => updatedAt < (status === 'succeeded' ? limits.succeeded : limits.others)
  for (const [status, limitMs] of [
    ['succeeded', limits.succeeded],
    ['', limits.others],
  ] as const) {
    for (let cursor: string | undefined; !stopping();) {
      const options = { index: 'listed', values: ['', status], limit: batch, cursor, ascending: true, forWork: true } as const
      const { rows, nextCursor } = await database.list(webhookDeliveries, { organizationId }, options)
      const ids = rows.filter(({ record }) => isOld(record)).map(({ record }) => record.id)
      if (ids.length > 0) await removeByIds(database, organizationId, ids, isOld) // the next round removes deliveries that changed
      cursor = nextCursor
      const newest = rows.at(-1)
      if (cursor === undefined || (newest && newest.record.createdAt >= limitMs)) break
    }
  }
}

/** Removes deliveries in one write. Returns false, and removes nothing, after a concurrent change. */
async function removeByIds(
  database: Database,
  organizationId: string,
  ids: readonly string[],
  isMeant: (delivery: WebhookDelivery) => boolean,
): Promise<boolean> {
  const change = new Change()
  for (const id of ids) {
    const stored = await database.get(webhookDeliveries, { organizationId }, id)
    if (stored && isMeant(stored.record)) removeDelivery(change, organizationId, stored)
  }
  return (await database.commit(change)).ok
}
