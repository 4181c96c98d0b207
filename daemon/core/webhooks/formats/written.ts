/** Writes the request of one attempt in the endpoint's format, from the stored event and facts of its message. */
import type { EventWire } from '../events/event-body.ts'
import type { FormatEndpoint, FormatRequest, MessageFacts } from './format.ts'
import type { WebhookFormat } from './format-names.ts'
import { formats } from './formats.ts'
import { confirmationOf } from './subscription.ts'

interface StoredDelivery {
  readonly deliveryId: string
  /** In the native format. */
  readonly body: string
  readonly message?: MessageFacts | undefined
}

/** Facts for a message whose trace was removed. The time of the event is its earliest known time. */
const gone = (acceptedAt: number): MessageFacts => ({ from: '', mailFrom: '', subject: '', acceptedAt })

/** Defaults for events stored before messages had tags and metadata. */
const unlabelled = { tags: [], metadata: {} }

/** Requires a supported event type; see `says`. */
export function written(format: Exclude<WebhookFormat, 'native'>, delivery: StoredDelivery, endpoint: FormatEndpoint): FormatRequest {
  const { deliveryId } = delivery
  const confirmation = confirmationOf(delivery.body)
  if (confirmation) return confirmation(deliveryId, endpoint)
  const { id, type, created_at: created, data } = JSON.parse(delivery.body) as EventWire
  const times = { createdAt: Date.parse(created), occurredAt: Date.parse(data.occurred_at) }
  const message = delivery.message ?? gone(times.occurredAt)
  return formats[format].write({ id, deliveryId, type, ...times, data: { ...unlabelled, ...data }, message }, endpoint)
}
