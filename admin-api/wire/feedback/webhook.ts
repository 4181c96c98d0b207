/** Webhook endpoints and their deliveries on the wire. Spec "Outbound webhook endpoint and attempt". */
import assert from 'node:assert'
import * as z from 'zod'
import type { HasHealth } from '#core/health/resource-health.ts'
import type { DeliverySeen, DeliveryWithAttempts } from '#core/webhooks/sending/deliveries.ts'
import { deliveryStatuses, deliveryTypes, type LoggedAttempt } from '#core/webhooks/delivery.ts'
import { webhookEventTypes, type WebhookEndpoint } from '#core/webhooks/endpoint.ts'
import { shownUrl } from '#core/webhooks/endpoints/target-url.ts'
import { webhookFormats } from '#core/webhooks/formats/format-names.ts'
import type { TestResult } from '#core/webhooks/endpoints/test-delivery.ts'
import type { EndpointWithSecret } from '#core/webhooks/endpoints/webhooks.ts'
import { encoder } from '../fields/codec.ts'
import { healthCode, healthField } from '../insights/health.ts'
import { hmacSecret, id, nameLine } from '../fields/text.ts'
import { withNumberForm } from '../fields/text-form.ts'
import { orNull, wireTime } from '../fields/time.ts'

const eventType = z.enum(webhookEventTypes)

const format = z.enum(webhookFormats)

/** For the descriptions of URLs. */
export const shownQuery = 'A query is encrypted and shown as `***`. To keep it, send the URL as shown.'

const endpointFields = {
  id: z.string(),
  project_id: z.string(),
  name: z.string(),
  target_url: z.string().meta({ description: shownQuery }),
  event_types: z.array(eventType).meta({ description: 'Empty means every event.' }),
  format: format.meta({ description: 'The event format and signature: native, or the format of the named service.' }),
  verification_key: z
    .string()
    .nullable()
    .meta({
      description:
        'The key that receivers use to verify signatures, for formats with a key pair. `sendgrid`: the public key in base64 ' +
        '(DER). `ses`: the certificate in PEM. Null for other formats, which use the secret.',
    }),
  header_names: z.array(z.string()).meta({ description: 'Names of the header fields in every request; values are never shown.' }),
  paused: z.boolean().meta({ description: 'While true, nothing is sent; events are stored as pending attempts.' }),
  paused_at: wireTime.nullable(),
  created_at: wireTime,
  updated_at: wireTime,
}

const webhookEndpointShape = z.object({ ...endpointFields, ...healthField }).meta({ id: 'WebhookEndpoint' })
const webhookEndpointWithSecretShape = z
  .object({
    ...endpointFields,
    hmac_secret: hmacSecret,
  })
  .meta({ id: 'MintedWebhookEndpoint' })

const headers = z
  .record(
    z
      .string()
      .max(100)
      .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header field'),
    z
      .string()
      .max(2000)
      .regex(/^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/, 'must be visible ASCII, without spaces at the start or end'),
  )
  .refine((map) => Object.keys(map).length <= 10, 'must have at most 10 fields')

const changes = {
  name: nameLine(100),
  target_url: z
    .string()
    .min(1)
    .max(2048)
    .meta({
      description:
        'An https URL. Redirects are not followed. With a format other than `native` it may contain `user:password@`, which is ' +
        'stored as a header field.',
    }),
  event_types: z.array(eventType).max(20).meta({ description: 'If empty or omitted, every event is sent.' }),
  paused: z.boolean().meta({
    description:
      'true: no attempt starts (one in progress finishes), and events are stored as pending attempts. Pending attempts expire after ' +
      'at most 30 days, and no later than traces of the plan. false: pending attempts start immediately. Tests are sent in either state.',
  }),
  format: format.meta({
    description:
      'The event format and signature. Each attempt uses the format set at that time. Events that do not exist in the format are ' +
      'not sent.',
  }),
  headers: headers.meta({
    description:
      'Header fields of every request, such as `Authorization`. Replaces all previous fields. Values are encrypted and never ' +
      'shown; changing the host of `target_url` removes them.',
  }),
  project_id: id.meta({ description: 'The project whose events are sent. Defaults to the project of the key.' }),
}

export const newWebhookEndpoint = z.strictObject({
  ...changes,
  event_types: changes.event_types.default([]),
  paused: changes.paused.default(false),
  format: changes.format.default('native'),
  headers: changes.headers.optional(),
  project_id: changes.project_id.optional(),
})
export const webhookEndpointChanges = z.strictObject(changes).partial()

const endpointCode = {
  target_url: ({ targetUrl }: WebhookEndpoint) => shownUrl(targetUrl),
  paused: ({ pausedAt }: WebhookEndpoint) => pausedAt !== undefined,
  format: ({ format: named }: WebhookEndpoint) => named ?? 'native',
  verification_key: ({ signing }: WebhookEndpoint) => signing?.verifier ?? null,
  header_names: ({ headers: given }: WebhookEndpoint) => [...(given?.names ?? [])],
}
export const webhookEndpoint = encoder(webhookEndpointShape).from<WebhookEndpoint & HasHealth>({ ...endpointCode, ...healthCode })
export const webhookEndpointWithSecret = encoder(webhookEndpointWithSecretShape)
  .from<WebhookEndpoint & { readonly hmacSecret: string }>(endpointCode)
  .via(({ endpoint, secret }: EndpointWithSecret) => ({ ...endpoint, hmacSecret: secret }))

const deliveryStatus = z.enum(deliveryStatuses)

const statusCode = withNumberForm(
  z.int().min(100).max(599).optional().meta({ description: 'HTTP status of the latest attempt.' }),
  /^[1-5]\d\d$/,
  'must be an HTTP status from 100 to 599',
)
export const webhookAttemptFilter = {
  status: deliveryStatus.optional(),
  event_type: z.enum(deliveryTypes).optional(),
  status_code: statusCode,
}

const deliveryFields = {
  id: z.string(),
  delivery_id: z.uuidv4().meta({ description: 'The value of X-Service-Delivery, identical for all attempts.' }),
  endpoint_id: z.string().meta({ description: 'The webhook endpoint, or the inbound route.' }),
  project_id: z.string().nullable().meta({ description: 'Null for an alert channel of the whole organization.' }),
  trace_id: z.string().nullable().meta({ description: 'Null for received mail.' }),
  event_id: z.string(),
  event_type: z.enum(deliveryTypes),
  status: deliveryStatus.meta({
    description:
      '`pending`: not attempted yet. `failed`: the last attempt failed; the next attempt is at `next_attempt_at`. `parked`: all ' +
      'retries failed; redelivering starts a new schedule.',
  }),
  attempt_count: z.int(),
  last_status_code: z.int().nullable(),
  last_error: z.string().nullable(),
  next_attempt_at: wireTime.nullable().meta({ description: 'Null if no attempt follows, and while the endpoint is paused.' }),
  paused: z.boolean().meta({ description: 'The endpoint is paused. The next attempt is due when it resumes.' }),
  created_at: wireTime,
  updated_at: wireTime,
}

const webhookAttemptShape = z.object(deliveryFields).meta({ id: 'WebhookAttempt' })

const answered = {
  latency_ms: z.int(),
  status_code: z.int().nullable().meta({ description: 'Null without a response.' }),
  error: z.string().nullable(),
  response_body: z.string().nullable().meta({ description: 'The first 4 KiB, as text.' }),
}

const loggedAttemptShape = z.object({
  ...{ number: z.int(), at: wireTime, ...answered },
  signature: z
    .string()
    .nullable()
    .meta({ description: 'The X-Service-Signature of the attempt. Null for formats without it, and if no request was sent.' }),
})

const webhookAttemptDetailShape = z
  .object({
    ...deliveryFields,
    body: z
      .string()
      .meta({ description: 'The event in the native format. This is the exact body sent, unless the endpoint has another format.' }),
    attempts: z.array(loggedAttemptShape).meta({ description: 'The latest 20, in order.' }),
  })
  .meta({ id: 'WebhookAttemptDetail' })

export const webhookTestInput = z.strictObject({
  event_type: eventType.default('delivered').meta({ description: 'The type of the sample event.' }),
})

const webhookTestShape = z
  .object({
    delivered: z.boolean(),
    delivery_id: z.uuidv4(),
    ...answered,
    body: z.string().meta({ description: 'The body sent, in the format of the endpoint.' }),
  })
  .meta({ id: 'WebhookTest' })

const deliveryCode = {
  project_id: ({ projectId }: DeliverySeen) => projectId || null,
  event_type({ eventType }: DeliverySeen) {
    assert(eventType !== 'operator_alert', 'deliveries of operator alerts must not reach an organization')
    return eventType
  },
  next_attempt_at: (delivery: DeliverySeen) => (delivery.paused ? null : orNull(delivery.nextAttemptAt)),
}
export const webhookAttempt = encoder(webhookAttemptShape).from<DeliverySeen>(deliveryCode)

const answeredCode = {
  latency_ms: ({ milliseconds }: Answered) => milliseconds,
  response_body: ({ answer }: Answered) => answer,
}
type Answered = Pick<LoggedAttempt, 'milliseconds' | 'answer'>
const loggedAttempt = encoder(loggedAttemptShape).from<LoggedAttempt>(answeredCode)

export const webhookAttemptDetail = encoder(webhookAttemptDetailShape)
  .from<DeliverySeen & { readonly attempts: readonly LoggedAttempt[] }>({
    ...deliveryCode,
    attempts: ({ attempts }) => attempts.map(loggedAttempt.encode),
  })
  .via(({ delivery, attempts }: DeliveryWithAttempts) => ({ ...delivery, attempts }))

export const webhookTest = encoder(webhookTestShape).from<TestResult>({ ...answeredCode, delivered: ({ error }) => error === null })
