/**
 * Removes inbound mail of deleted routes and projects, and mail after its retention, in small writes. It can stop between any two writes.
 */
import { Change } from '#store/change.ts'
import { contentRowKey } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { indexPrefix, type Stored } from '#store/record-kind.ts'
import { unpack, within } from '#store/tuple.ts'
import { storedInboundCounter } from '../tenancy/counters.ts'
import { removeDelivery, webhookDeliveries, type WebhookDelivery } from '../webhooks/delivery.ts'
import { inboundMessages, unpreparedKey, weightOf, type InboundMessage } from './inbound-message.ts'
import { inboundRoutes } from './route.ts'

/** `stopping` is called between two writes. */
interface CleanupWork {
  readonly database: Database
  readonly stopping: () => boolean
}

const batch = 100
/** Maximum number of consecutive rounds without a removal. */
const maxFruitless = 100

/** Removes all mail of a route or of a project. */
export async function removeMessages(
  { database, stopping }: CleanupWork,
  organizationId: string,
  index: 'route' | 'project',
  value: string,
): Promise<void> {
  for (let fruitless = 0; !stopping();) {
    const { rows } = await database.list(inboundMessages, { organizationId }, { index, values: [value], limit: batch, forWork: true })
    if (rows.length === 0) return
    const gone = await Promise.all(rows.map((stored) => removeMessage(database, organizationId, stored)))
    fruitless = gone.includes(true) ? 0 : fruitless + 1
    if (fruitless > maxFruitless) throw new Error(`mail of ${value} cannot be removed; run postern verify`)
  }
}

const dayMs = 86_400_000

/** Removes mail that exceeds the plan's retention and has no pending delivery, and mail of deleted routes. */
export async function sweepInbound(
  work: CleanupWork,
  organizationId: string,
  { nowMs, retentionDays = Infinity }: { readonly nowMs: number; readonly retentionDays?: number | undefined },
): Promise<void> {
  const { database, stopping } = work
  const all = within(indexPrefix(inboundMessages.name, organizationId, 'route'))
  for (let { start } = all; !stopping();) {
    let routeId: string | undefined
    for await (const { key } of database.kv.range({ start, end: all.end, limit: 1 })) routeId = String(unpack(key).at(-2))
    if (routeId === undefined) return
    if (await database.get(inboundRoutes, { organizationId }, routeId))
      await removeOld(work, organizationId, routeId, nowMs - retentionDays * dayMs)
    else await removeMessages(work, organizationId, 'route', routeId)
    start = within([...indexPrefix(inboundMessages.name, organizationId, 'route'), routeId]).end
  }
}

async function removeOld({ database, stopping }: CleanupWork, organizationId: string, routeId: string, beforeMs: number): Promise<void> {
  for (let cursor: string | undefined; !stopping();) {
    const options = { index: 'route', values: [routeId], limit: batch, cursor, ascending: true, forWork: true } as const
    const { rows, nextCursor } = await database.list(inboundMessages, { organizationId }, options)
    for (const stored of rows) {
      if (stored.record.receivedAt >= beforeMs) return
      if (!(await isOnItsWay(database, organizationId, stored.record))) await removeMessage(database, organizationId, stored)
    }
    cursor = nextCursor
    if (cursor === undefined) return
  }
}

async function isOnItsWay(database: Database, organizationId: string, { prepared }: InboundMessage): Promise<boolean> {
  if (prepared === null) return true
  const delivery = await database.get(webhookDeliveries, { organizationId }, prepared.deliveryId)
  return delivery !== undefined && delivery.record.nextAttemptAt !== null
}

/** Removes a mail with its content, and with its delivery if given. Returns false after a concurrent change. */
export async function removeMessage(
  database: Database,
  organizationId: string,
  stored: Stored<InboundMessage>,
  delivery?: Stored<WebhookDelivery>,
): Promise<boolean> {
  const { id, content } = stored.record
  const change = new Change().remove(inboundMessages, organizationId, stored).delete(unpreparedKey(organizationId, id))
  if (delivery) removeDelivery(change, organizationId, delivery)
  change.add(storedInboundCounter(organizationId), -weightOf(stored.record))
  for (let row = 0; row < content.rows; row++) change.delete(contentRowKey(organizationId, content.id, row))
  return (await database.commit(change)).ok
}
