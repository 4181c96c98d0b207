/** Announces events to webhook endpoints, as rows of the write that makes them happen (transactional outbox). */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Trace } from '../../trace/trace.ts'
import { addDelivery } from './add-delivery.ts'
import type { WebhookEndpoints } from '../endpoint.ts'
import { says } from '../formats/formats.ts'
import { eventBody, type WebhookEvent } from './event-body.ts'

/**
 * Adds a delivery for each endpoint of the trace's project that wants the event; without any, it does nothing. `endpoints` are those of the
 * organization's cached settings (`Policy.webhooks`). Call it once for each change of a recipient's fate, in the write that makes it;
 * when that write is tried again, begin with a new change. Returns the id of the event, or undefined when no endpoint wants it.
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
 * Announces `failed` for each recipient that the message was given up for between the two states of its trace. `because` is the reason
 * for those whom no server answered for.
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
    /** Those of the recipients that a server refused for good. */
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
