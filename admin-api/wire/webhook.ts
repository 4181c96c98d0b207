/** Webhook endpoints and their deliveries on the wire. Spec "Outbound webhook endpoint and attempt". */
import * as z from 'zod'
import type { DeliverySeen } from '#core/webhooks/deliveries.ts'
import { deliveryStatuses, deliveryTypes, type LoggedAttempt } from '#core/webhooks/delivery.ts'
import { webhookEventTypes, type WebhookEndpoint } from '#core/webhooks/endpoint.ts'
import type { TestResult } from '#core/webhooks/test-delivery.ts'
import type { MintedEndpoint, WebhookRequest } from '#core/webhooks/webhooks.ts'
import { pagingFields } from './paging.ts'
import { filledLine, id } from './text.ts'
import { toWireTime, wireTime } from './time.ts'

const eventType = z.enum(webhookEventTypes)

const endpointFields = {
  id: z.string(),
  project_id: z.string(),
  name: z.string(),
  target_url: z.string(),
  event_types: z.array(eventType).meta({ description: 'Empty means every event.' }),
  paused: z.boolean().meta({ description: 'Nothing is attempted; events wait as pending attempts.' }),
  paused_at: wireTime.nullable(),
  created_at: wireTime,
  updated_at: wireTime,
}

export const webhookEndpointShape = z.object(endpointFields).meta({ id: 'WebhookEndpoint' })
export const mintedWebhookEndpointShape = z
  .object({
    ...endpointFields,
    hmac_secret: z.string().meta({
      description:
        'Shown this once. `X-Service-Signature` is keyed by all of it as text; for Standard Webhooks it is a secret in their form, `whsec_` and base64.',
    }),
  })
  .meta({ id: 'MintedWebhookEndpoint' })

const changes = {
  name: filledLine(100),
  target_url: z.string().min(1).max(2048).meta({ description: 'Address that begins with https://. Redirects are not followed.' }),
  event_types: z.array(eventType).max(20).meta({ description: 'Left out or empty: every event.' }),
  paused: z.boolean().meta({
    description:
      'true: no attempt begins (one that is under way is finished), and events are kept as pending attempts, for 30 days at most and no longer than the plan keeps ' +
      'traces. false: they are attempted now. Tests are sent all the same.',
  }),
  project_id: id.meta({ description: 'Whose messages it hears of; the project of the key unless told.' }),
}

export const newWebhookEndpointBody = z.strictObject({
  ...changes,
  event_types: changes.event_types.default([]),
  paused: changes.paused.default(false),
  project_id: changes.project_id.optional(),
})
export const webhookEndpointChangesBody = z.strictObject(changes).partial()

export const toNewWebhookEndpoint = (body: z.output<typeof newWebhookEndpointBody>) => ({
  name: body.name,
  targetUrl: body.target_url,
  eventTypes: body.event_types,
  isPaused: body.paused,
  projectId: body.project_id,
})

export const toWebhookEndpointChanges = (
  body: z.output<typeof webhookEndpointChangesBody>,
): { readonly [Key in keyof WebhookRequest]: WebhookRequest[Key] | undefined } => ({
  name: body.name,
  targetUrl: body.target_url,
  eventTypes: body.event_types,
  isPaused: body.paused,
  projectId: body.project_id,
})

export const toWireWebhookEndpoint = (endpoint: WebhookEndpoint): z.input<typeof webhookEndpointShape> => ({
  id: endpoint.id,
  project_id: endpoint.projectId,
  name: endpoint.name,
  target_url: endpoint.targetUrl,
  event_types: [...endpoint.eventTypes],
  paused: endpoint.pausedAt !== undefined,
  paused_at: endpoint.pausedAt === undefined ? null : toWireTime(endpoint.pausedAt),
  created_at: toWireTime(endpoint.createdAt),
  updated_at: toWireTime(endpoint.updatedAt),
})

export const toWireMintedWebhookEndpoint = ({ endpoint, secret }: MintedEndpoint): z.input<typeof mintedWebhookEndpointShape> => ({
  ...toWireWebhookEndpoint(endpoint),
  hmac_secret: secret,
})

const deliveryStatus = z.enum(deliveryStatuses)

export const webhookAttemptFilters = {
  limit: pagingFields.limit,
  cursor: pagingFields.cursor,
  status: deliveryStatus.optional(),
}

const deliveryFields = {
  id: z.string(),
  delivery_id: z.uuidv4().meta({ description: 'The value of X-Service-Delivery: the same at every attempt.' }),
  endpoint_id: z.string().meta({ description: 'The webhook endpoint, or the inbound route.' }),
  project_id: z.string(),
  trace_id: z.string().nullable().meta({ description: 'Null for mail that came in.' }),
  event_id: z.string(),
  event_type: z.enum(deliveryTypes),
  status: deliveryStatus.meta({
    description:
      '`pending`: no attempt yet. `failed`: the last attempt failed, and another one follows at `next_attempt_at`. ' +
      '`parked`: the schedule is used up; redeliver begins a new one.',
  }),
  attempt_count: z.int(),
  last_status_code: z.int().nullable(),
  last_error: z.string().nullable(),
  next_attempt_at: wireTime.nullable().meta({ description: 'Null when none follows, and while the endpoint is paused.' }),
  paused: z.boolean().meta({ description: 'It waits because the endpoint is paused; resuming it makes the next attempt due.' }),
  created_at: wireTime,
  updated_at: wireTime,
}

export const webhookAttemptShape = z.object(deliveryFields).meta({ id: 'WebhookAttempt' })

const answered = {
  latency_ms: z.int(),
  status_code: z.int().nullable().meta({ description: 'Null when there was no answer.' }),
  error: z.string().nullable(),
  response_body: z.string().nullable().meta({ description: 'At most the first 4 KiB, as text.' }),
}

export const webhookAttemptDetailShape = z
  .object({
    ...deliveryFields,
    body: z.string().meta({ description: 'Exactly what is sent and signed.' }),
    attempts: z.array(z.object({ number: z.int(), at: wireTime, ...answered })).meta({ description: 'The latest 20, in order.' }),
  })
  .meta({ id: 'WebhookAttemptDetail' })

export const webhookTestBody = z
  .strictObject({ event_type: eventType.default('delivered').meta({ description: 'What the made-up event is like.' }) })
  .default({ event_type: 'delivered' })

export const webhookTestShape = z
  .object({ delivered: z.boolean(), delivery_id: z.uuidv4(), ...answered, body: z.string().meta({ description: 'What was sent.' }) })
  .meta({ id: 'WebhookTest' })

export const toWireWebhookAttempt = (delivery: DeliverySeen): z.input<typeof webhookAttemptShape> => ({
  id: delivery.id,
  delivery_id: delivery.deliveryId,
  endpoint_id: delivery.endpointId,
  project_id: delivery.projectId,
  trace_id: delivery.traceId,
  event_id: delivery.eventId,
  event_type: delivery.eventType,
  status: delivery.status,
  attempt_count: delivery.attemptCount,
  last_status_code: delivery.lastStatusCode,
  last_error: delivery.lastError,
  next_attempt_at: delivery.nextAttemptAt === null || delivery.isPaused ? null : toWireTime(delivery.nextAttemptAt),
  paused: delivery.isPaused,
  created_at: toWireTime(delivery.createdAt),
  updated_at: toWireTime(delivery.updatedAt),
})

const toWireAnswer = ({
  milliseconds,
  statusCode,
  error,
  answer,
}: Pick<LoggedAttempt, 'milliseconds' | 'statusCode' | 'error' | 'answer'>) => ({
  latency_ms: milliseconds,
  status_code: statusCode,
  error,
  response_body: answer,
})

export const toWireWebhookAttemptDetail = ({
  delivery,
  attempts,
}: {
  readonly delivery: DeliverySeen
  readonly attempts: readonly LoggedAttempt[]
}): z.input<typeof webhookAttemptDetailShape> => ({
  ...toWireWebhookAttempt(delivery),
  body: delivery.body,
  attempts: attempts.map((attempt) => ({ number: attempt.number, at: toWireTime(attempt.at), ...toWireAnswer(attempt) })),
})

export const toWireWebhookTest = (result: TestResult): z.input<typeof webhookTestShape> => ({
  delivered: result.error === null,
  delivery_id: result.deliveryId,
  ...toWireAnswer(result),
  body: result.body,
})
