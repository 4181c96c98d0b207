/** Receivers of webhooks of one project that have counts or an open finding. */
import type { Database } from '#store/database.ts'
import { within } from '#store/tuple.ts'
import type { Finding } from '../../findings/finding.ts'
import { formNotifications } from '../../forms/notifications/notification.ts'
import { forms } from '../../forms/form.ts'
import { inboundRoutes } from '../../inbound-routes/route.ts'
import { dueKey, webhookDeliveries } from '../../webhooks/delivery.ts'
import type { WebhookEndpoint } from '../../webhooks/endpoint.ts'
import type { Receiver, Undelivered } from '../conditions/receivers.ts'
import type { Step } from './steps.ts'

interface Known {
  readonly project: { readonly id: string }
  readonly steps: readonly Step[]
  readonly endpoints: readonly WebhookEndpoint[]
  readonly open: readonly Finding[]
}

/** Endpoints come from the cached settings. Routes and forms are read by id. A paused or removed receiver is left out. */
export async function readReceivers(
  database: Database,
  organizationId: string,
  { project, steps, endpoints, open }: Known,
): Promise<readonly Receiver[]> {
  const subjects = open.map(({ subject }) => subject.replace(/\/webhook$/, ''))
  const ids = new Set([...steps.map(({ subject }) => subject), ...subjects])
  const projectId = project.id
  const receivers: Receiver[] = endpoints
    .filter(({ pausedAt, id }) => pausedAt === undefined && ids.has(id))
    .map(({ id, name }) => ({ kind: 'webhook.failing', id, name, projectId }))
  for (const id of ids) {
    const reach = { organizationId }
    if (id.startsWith('inr_')) {
      const route = (await database.get(inboundRoutes, reach, id))?.record
      if (route?.projectId === projectId) receivers.push({ kind: 'inbound.failing', id, name: route.localPartPattern, projectId })
    } else if (id.startsWith('frm_')) {
      const form = (await database.get(forms, reach, id))?.record
      const hasWebhook = form && ((await database.get(formNotifications, reach, id))?.record.webhookUrl ?? null) !== null
      if (hasWebhook && form.projectId === projectId) receivers.push({ kind: 'form.notification_failing', id, name: form.name, projectId })
    }
  }
  return receivers
}

/** Maximum number of waiting deliveries that are counted for a receiver. */
export const maxUndelivered = 1000

/** Counts rows of due deliveries without reading their bodies, and reads one delivery. */
export async function readUndelivered(database: Database, organizationId: string, receiverId: string): Promise<Undelivered> {
  let waiting = 0
  for await (const _ of database.kv.range({ ...within(dueKey(receiverId)), limit: maxUndelivered })) waiting++
  const listed = { index: 'listed', values: [receiverId, 'failed'], limit: 1, forWork: true } as const
  const { rows } = await database.list(webhookDeliveries, { organizationId }, listed)
  return { waiting, status: rows[0]?.record.lastStatusCode ?? null }
}
