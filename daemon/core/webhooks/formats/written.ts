/** One attempt in the format of its endpoint: the stored event, with what its message adds, as a request. */
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

/** Of a message whose trace is removed: no earlier time of it is known than that of the event. */
const gone = (acceptedAt: number): MessageFacts => ({ from: '', mailFrom: '', subject: '', acceptedAt })

/** Of what was stored before messages had them. */
const unlabelled = { tags: [], metadata: {} }

/** What may be sent is known before (`says`). */
export function written(format: Exclude<WebhookFormat, 'native'>, delivery: StoredDelivery, endpoint: FormatEndpoint): FormatRequest {
  const { deliveryId } = delivery
  const confirmation = confirmationOf(delivery.body)
  if (confirmation) return confirmation(deliveryId, endpoint)
  const { id, type, created_at: created, data } = JSON.parse(delivery.body) as EventWire
  const times = { createdAt: Date.parse(created), occurredAt: Date.parse(data.occurred_at) }
  const message = delivery.message ?? gone(times.occurredAt)
  return formats[format].write({ id, deliveryId, type, ...times, data: { ...unlabelled, ...data }, message }, endpoint)
}
