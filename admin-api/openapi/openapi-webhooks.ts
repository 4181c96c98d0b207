/** The `webhooks` section of the OpenAPI document: the requests that receivers of events get. Spec "Outbound event webhooks". */
import { alertEventShape } from '#core/alerts/kinds/alert-event.ts'
import { formSubmissionEventShape } from '#core/forms/notifications/form-webhook.ts'
import { inboundEventShape } from '#core/inbound-routes/webhook-body.ts'
import { webhookEventTypes, type WebhookEventType } from '#core/webhooks/endpoint.ts'
import { webhookEventShape } from '#core/webhooks/events/event-body.ts'
import type { Json, SchemaCollection } from './openapi-schemas.ts'

const summaries: Readonly<Record<WebhookEventType, string>> = {
  delivered: 'The recipient’s server reported delivery of the message',
  bounced: 'The message bounced after a server accepted it',
  complained: 'The recipient reported the message as spam',
  failed: 'Delivery was abandoned: no server accepted the message for this recipient',
  auto_suppressed: 'The recipient was suppressed because of a bounce or complaint',
}

const headers: Readonly<Record<string, string>> = {
  'X-Service-Signature': '`sha256=` and the HMAC-SHA-256 of the body in hexadecimal, keyed by the secret as text. Verify it first.',
  'X-Service-Delivery': 'UUID of the delivery, identical for all attempts. Use it to process each event once.',
  'webhook-id': 'The same UUID, for libraries of Standard Webhooks.',
  'webhook-timestamp': 'Time of this attempt in seconds since 1970-01-01. Refuse requests older than five minutes.',
  'webhook-signature': '`v1,` and the base64 signature of id, timestamp and body, as defined by Standard Webhooks.',
}

export function describeWebhooks(schemas: SchemaCollection): Json {
  const parameters = Object.entries(headers).map(([name, description]) => {
    return { name, in: 'header', required: true, description, schema: { type: 'string' } }
  })
  const contentOf = (
    shape: typeof webhookEventShape | typeof inboundEventShape | typeof formSubmissionEventShape | typeof alertEventShape,
  ): Json => ({
    'application/json': { schema: schemas.toJsonSchema(shape, 'output') },
  })
  const content = contentOf(webhookEventShape)
  const responses = {
    '2XX': { description: 'The event is accepted and not sent again.' },
    default: {
      description:
        'Any other status, including redirects: the event is sent again after 1, 5 and 25 minutes, and 2, 12 and 24 hours, and then parked.',
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
    inbound_message: describe('inbound_message', 'An inbound route received a mail', contentOf(inboundEventShape)),
    alert: describe('alert', 'Findings opened or ended, for an alert channel of the kind webhook', contentOf(alertEventShape)),
    form_submission: describe('form_submission', 'A visitor submitted a form with a webhook', contentOf(formSubmissionEventShape)),
  }
}
