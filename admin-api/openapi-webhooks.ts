/** The `webhooks` section of the OpenAPI document: what receivers of events get, as the core writes it. Spec "Outbound event webhooks". */
import { inboundEventShape } from '#core/inbound-routes/webhook-body.ts'
import { webhookEventTypes, type WebhookEventType } from '#core/webhooks/endpoint.ts'
import { webhookEventShape } from '#core/webhooks/events/event-body.ts'
import type { Json, SchemaCollection } from './openapi-schemas.ts'

const summaries: Readonly<Record<WebhookEventType, string>> = {
  delivered: 'The message reached the recipient’s server, as a report tells',
  bounced: 'The message came back after a server had taken it',
  complained: 'The recipient reported the message as spam',
  failed: 'The message was given up: no server took it for this recipient',
  auto_suppressed: 'The recipient went on the suppression list because of a bounce or complaint',
}

const headers: Readonly<Record<string, string>> = {
  'X-Service-Signature':
    '`sha256=` and the HMAC-SHA-256 of the body in hexadecimal, keyed by the secret as text. Verify before anything else.',
  'X-Service-Delivery': 'UUID of the delivery, the same at every attempt: what has been seen is not processed twice.',
  'webhook-id': 'The same UUID, for libraries of Standard Webhooks.',
  'webhook-timestamp': 'When this attempt was made, in seconds since 1970. Refuse what is older than five minutes.',
  'webhook-signature': '`v1,` and a signature over id, time and body in base64, as Standard Webhooks has it.',
}

export function describeWebhooks(schemas: SchemaCollection): Json {
  const parameters = Object.entries(headers).map(([name, description]) => {
    return { name, in: 'header', required: true, description, schema: { type: 'string' } }
  })
  const contentOf = (shape: typeof webhookEventShape | typeof inboundEventShape): Json => ({
    'application/json': { schema: schemas.toJsonSchema(shape, 'output') },
  })
  const content = contentOf(webhookEventShape)
  const responses = {
    '2XX': { description: 'The event is taken; it is not sent again.' },
    default: {
      description: 'Anything else, a redirect too: it is sent again after 1 and 5 and 25 minutes, 2, 12 and 24 hours, and then parked.',
    },
  }
  const describe = (type: string, summary: string, body: Json): Json => ({
    post: {
      operationId: `on_${type}`,
      summary,
      tags: ['webhooks'],
      parameters,
      requestBody: { required: true, content: body },
      responses,
    },
  })
  return {
    ...Object.fromEntries(webhookEventTypes.map((type) => [type, describe(type, summaries[type], content)])),
    inbound_message: describe('inbound_message', 'Mail came in by an inbound route', contentOf(inboundEventShape)),
  }
}
