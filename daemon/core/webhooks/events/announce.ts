/** Announces events to webhook endpoints, as rows of the write that causes them (transactional outbox). */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Trace } from '../../trace/trace.ts'
import { addDelivery } from './add-delivery.ts'
import type { WebhookEndpoints } from '../endpoint.ts'
import { says } from '../formats/formats.ts'
import { eventBody, type WebhookEvent } from './event-body.ts'

/**
 * Adds a delivery for each endpoint of the trace's project that receives the event. `endpoints` is the organization's cached
 * `Policy.webhooks`. Call it once per change of a recipient's state, in the write of that change. Use a new change when that write is
 * retried. Returns the id of the event, or undefined if no endpoint receives it.
 */
export function announce(database: Database, change: Change, endpoints: WebhookEndpoints, event: WebhookEvent): string | undefined {
  const { organizationId, type, trace, at } = event
  const wanted = (endpoints.get(trace.projectId) ?? []).filter(
    ({ eventTypes, format }) => (eventTypes.length === 0 || eventTypes.includes(type)) && says(format, type),
  )
  if (wanted.length === 0) return undefined
  const eventId = database.newId('evt', at)
  const body = eventBody(eventId, event)
  for (const { id: endpointId } of wanted) {
    const { id: traceId, projectId } = trace
    addDelivery(database, change, organizationId, { eventId, eventType: type, endpointId, projectId, traceId, body, at })
  }
  return eventId
}

/**
 * Announces `failed` for each recipient that failed between the two states of the trace. `because` is the reason for recipients without a
 * server reply.
 */
export function announceFailures(
  database: Database,
  change: Change,
  endpoints: WebhookEndpoints,
  {
    organizationId,
    before,
    after,
    at,
    because = 'No server accepted the message.',
    bounces,
  }: {
    readonly organizationId: string
    readonly before: Trace
    readonly after: Trace
    readonly at: number
    readonly because?: string | undefined
    /** Bounces of recipients that a server refused permanently. */
    readonly bounces?: ReadonlyMap<string, WebhookEvent['bounce']> | undefined
  },
): void {
  if (!endpoints.has(after.projectId)) return
  const earlier = new Map(before.recipients.map(({ address, status }) => [address, status]))
  for (const recipient of after.recipients) {
    const { address, status, reply } = recipient
    if (status !== 'failed' || earlier.get(address) === 'failed') continue
    const reason = reply ? `The last reply was ${reply.code} ${reply.text.replaceAll('\n', ' ')}` : because
    announce(database, change, endpoints, {
      organizationId,
      type: 'failed',
      trace: { ...after, recipients: [recipient] },
      recipient: address,
      reason,
      at,
      bounce: bounces?.get(address),
    })
  }
}
