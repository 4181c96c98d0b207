/**
 * A delivery: one event for one endpoint, with its attempts. The body is stored as sent, so later changes of the trace do not affect it.
 * Spec "Webhook attempt status".
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey, defineRecord, type Immutable } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import * as z from 'zod'
import { webhookEventTypes } from './endpoint.ts'

/**
 * `pending`: no attempt since the announcement or the last redelivery request. `failed`: the last attempt failed and another attempt is
 * due. `parked`: all attempts of the schedule failed; only a redelivery request starts another attempt.
 */
export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'parked'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** Result of one attempt. `failed`: the attempt is retried. `parked`: it was the last attempt of the schedule. */
export const attemptEndings = ['succeeded', 'failed', 'parked'] as const
export type AttemptEnding = (typeof attemptEndings)[number]

/**
 * `inbound_message`: mail arrived at an inbound route. `form_submission`: a visitor submitted a form. `subscription_confirmation`: an
 * endpoint with the SNS format must confirm its subscription. `alert`: findings, sent to an alert channel.
 */
export const deliveryTypes = [...webhookEventTypes, 'inbound_message', 'form_submission', 'subscription_confirmation', 'alert'] as const
/** `operator_alert`: a problem of the service, sent to its operator. Deliveries of tenants never have it. */
const ownTypes = [...deliveryTypes, 'operator_alert'] as const
export type DeliveryType = (typeof ownTypes)[number]

const schema = z.strictObject({
  id: z.string(),
  /** UUID that identifies the delivery to the receiver. Equal for every attempt, including redeliveries. */
  deliveryId: z.uuidv4(),
  eventId: z.string(),
  eventType: z.enum(ownTypes),
  /** Id of the target: an endpoint, an inbound route or a form. */
  endpointId: z.string(),
  /** The project of the message; empty for an event of the whole organization. Does not change when the endpoint moves. */
  projectId: z.string(),
  /** Null if the event is not about a sent message. */
  traceId: z.string().nullable(),
  /** The event in the native format, as JSON. These bytes are sent in UTF-8 unless the endpoint has another format. */
  body: z.string(),
  status: z.enum(deliveryStatuses),
  /** Total number of attempts. */
  attemptCount: z.int(),
  /** Start time of the schedule and the number of earlier attempts. A redelivery starts a new schedule. */
  begun: z.strictObject({ at: z.int(), attempts: z.int() }),
  lastStatusCode: z.int().nullable(),
  lastError: z.string().nullable(),
  nextAttemptAt: z.int().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type WebhookDelivery = Immutable<z.infer<typeof schema>>

/** Index values: for all deliveries (empty), per project and per endpoint; each with any status (empty) and with its status. */
function listedUnder({ endpointId, projectId, status }: WebhookDelivery): (readonly string[])[] {
  return [...new Set(['', projectId, endpointId])].flatMap((place) => ['', status].map((state) => [place, state]))
}

export const webhookDeliveries = defineRecord<WebhookDelivery>({
  name: 'webhook_delivery',
  noun: 'webhook attempt',
  schema,
  indexes: { listed: listedUnder, trace: ({ traceId }) => (traceId === null ? [] : [[traceId]]) },
  projectOf: ({ projectId }) => projectId,
})

/** Row of a pending delivery, in order of due time. */
export interface DueRow {
  readonly endpointId: string
  readonly dueMs: number
  readonly id: string
  readonly organizationId: string
}

export const dueKey = (endpointId: string, ...rest: readonly Element[]): readonly Element[] => globalKey('webhook.due', endpointId, ...rest)

/** Adds the due row. The dispatcher is notified after the write is durable. */
export const addDue = (change: Change, { endpointId, dueMs, id, organizationId }: DueRow): Change =>
  change.set(dueKey(endpointId, dueMs, id), encode(organizationId)).schedule(deliveryWork, endpointId)

/** See `Database.onWork`. */
export const deliveryWork = 'webhook.due'
/** Work name for an endpoint that was resumed; its pending deliveries may be sent. See `Database.onWork`. */
export const resumedWork = 'webhook.resumed'

/** Removes the due row. Does nothing for a delivery that is not pending. */
export function removeDue(change: Change, { endpointId, nextAttemptAt, id }: WebhookDelivery): Change {
  return nextAttemptAt === null ? change : change.delete(dueKey(endpointId, nextAttemptAt, id))
}

export function toDueRow({ key, value }: { readonly key: Uint8Array; readonly value: Uint8Array }): DueRow {
  const [, , endpointId, dueMs, id] = unpack(key)
  return { endpointId: String(endpointId), dueMs: Number(dueMs), id: String(id), organizationId: decode<string>(value) }
}

/** Stored record of one attempt. */
export interface LoggedAttempt {
  readonly number: number
  readonly at: number
  readonly milliseconds: number
  /** Status of the response; null without a response. */
  readonly statusCode: number | null
  readonly error: string | null
  /** Start of the response body, as text. */
  readonly answer: string | null
  /** Value of `X-Service-Signature`; absent in attempts before 2026-11-24. */
  readonly signature?: string | undefined
}

/** Maximum number of stored attempts per delivery; older attempts are deleted. */
const attemptsKept = 20

const attemptKey = (organizationId: string, id: string, number: number): readonly Element[] => [
  organizationId,
  'webhook.attempt',
  id,
  number,
]

export function logAttempt(change: Change, organizationId: string, id: string, attempt: LoggedAttempt): Change {
  const forgotten = attempt.number - attemptsKept
  if (forgotten > 0) change.delete(attemptKey(organizationId, id, forgotten))
  return change.set(attemptKey(organizationId, id, attempt.number), encode(attempt))
}

/** Returns the stored attempts in order. */
export async function loggedAttempts(database: Database, organizationId: string, id: string): Promise<LoggedAttempt[]> {
  const attempts: LoggedAttempt[] = []
  for await (const { value } of database.kv.range({ ...within([organizationId, 'webhook.attempt', id]), whole: true }))
    attempts.push(decode<LoggedAttempt>(value))
  return attempts
}

/** Removes a delivery with its attempts and its due row. */
export function removeDelivery(
  change: Change,
  organizationId: string,
  stored: { readonly record: WebhookDelivery; readonly version: bigint },
): Change {
  const { id, attemptCount } = stored.record
  for (let number = Math.max(1, attemptCount - attemptsKept + 1); number <= attemptCount; number++)
    change.delete(attemptKey(organizationId, id, number))
  return removeDue(change.remove(webhookDeliveries, organizationId, stored), stored.record)
}
