/**
 * A delivery: one event on its way to one endpoint, with its attempts. The body is kept as it is sent, so what happens to the
 * trace meanwhile changes nothing. Spec "Webhook attempt status".
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey, defineRecord, type Immutable } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import * as z from 'zod'
import { webhookEventTypes } from './endpoint.ts'

/**
 * `pending`: no attempt since it was announced or asked for again. `failed`: the last attempt failed, and another one is due.
 * `parked`: the schedule is used up; nothing happens unless somebody asks for it.
 */
export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'parked'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** How one attempt ended: `failed` is tried again, `parked` was the last of its schedule. */
export const attemptEndings = ['succeeded', 'failed', 'parked'] as const
export type AttemptEnding = (typeof attemptEndings)[number]

/**
 * `inbound_message`: a mail came in by an inbound route. `form_submission`: a visitor sent a form. `subscription_confirmation`: an endpoint
 * in the format of SNS is asked to confirm.
 */
export const deliveryTypes = [...webhookEventTypes, 'inbound_message', 'form_submission', 'subscription_confirmation'] as const
/** `operator_alert`: what is wrong with the service, for its operator; no delivery of a tenant has it. */
const ownTypes = [...deliveryTypes, 'operator_alert'] as const
export type DeliveryType = (typeof ownTypes)[number]

const schema = z.strictObject({
  id: z.string(),
  /** The UUID by which the receiver distinguishes deliveries: the same at every attempt, also when asked for again. */
  deliveryId: z.uuidv4(),
  eventId: z.string(),
  eventType: z.enum(ownTypes),
  /** Id of the target, which is an endpoint, an inbound route or a form. */
  endpointId: z.string(),
  /** The project of the message, which stays when the endpoint moves. */
  projectId: z.string(),
  /** Null for what is about no message that was sent. */
  traceId: z.string().nullable(),
  /** The event in the native format: JSON, of which exactly these bytes in UTF-8 are sent, unless the endpoint has another format. */
  body: z.string(),
  status: z.enum(deliveryStatuses),
  /** Attempts made in all. */
  attemptCount: z.int(),
  /** When the schedule began, and how many attempts there had been by then: asking for it again begins a new one. */
  begun: z.strictObject({ at: z.int(), attempts: z.int() }),
  lastStatusCode: z.int().nullable(),
  lastError: z.string().nullable(),
  nextAttemptAt: z.int().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type WebhookDelivery = Immutable<z.infer<typeof schema>>

/** By endpoint, by project and for all (empty), with any status (empty) and with each. */
function listedUnder({ endpointId, projectId, status }: WebhookDelivery): (readonly string[])[] {
  return ['', projectId, endpointId].flatMap((place) => ['', status].map((state) => [place, state]))
}

export const webhookDeliveries = defineRecord<WebhookDelivery>({
  name: 'webhook_delivery',
  noun: 'webhook attempt',
  schema,
  indexes: { listed: listedUnder, trace: ({ traceId }) => (traceId === null ? [] : [[traceId]]) },
  projectOf: ({ projectId }) => projectId,
})

/** What an endpoint has to be sent, in order of due time. */
export interface DueRow {
  readonly endpointId: string
  readonly dueMs: number
  readonly id: string
  readonly organizationId: string
}

export const dueKey = (endpointId: string, ...rest: readonly Element[]): readonly Element[] => globalKey('webhook.due', endpointId, ...rest)

/** The dispatcher is notified when the write is durable. */
export const addDue = (change: Change, { endpointId, dueMs, id, organizationId }: DueRow): Change =>
  change.set(dueKey(endpointId, dueMs, id), encode(organizationId)).schedule(deliveryWork, endpointId)

/** See `Database.onWork`. */
export const deliveryWork = 'webhook.due'
/** The same for an endpoint that was paused: what it has waiting may go. */
export const resumedWork = 'webhook.resumed'

/** The row by which the next attempt is found; nothing for a delivery that waits for none. */
export function removeDue(change: Change, { endpointId, nextAttemptAt, id }: WebhookDelivery): Change {
  return nextAttemptAt === null ? change : change.delete(dueKey(endpointId, nextAttemptAt, id))
}

export function toDueRow({ key, value }: { readonly key: Uint8Array; readonly value: Uint8Array }): DueRow {
  const [, , endpointId, dueMs, id] = unpack(key)
  return { endpointId: String(endpointId), dueMs: Number(dueMs), id: String(id), organizationId: decode<string>(value) }
}

/** One attempt as it is kept. */
export interface LoggedAttempt {
  readonly number: number
  readonly at: number
  readonly milliseconds: number
  /** Status of the answer; null when there was none. */
  readonly statusCode: number | null
  readonly error: string | null
  /** The beginning of the answer's body, as text. */
  readonly answer: string | null
  /** What `X-Service-Signature` said; attempts of releases before 2026-11-24 have none. */
  readonly signature?: string | undefined
}

/** So many attempts of a delivery are kept; the oldest are forgotten. */
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

/** In order. */
export async function loggedAttempts(database: Database, organizationId: string, id: string): Promise<LoggedAttempt[]> {
  const attempts: LoggedAttempt[] = []
  for await (const { value } of database.kv.range({ ...within([organizationId, 'webhook.attempt', id]), whole: true }))
    attempts.push(decode<LoggedAttempt>(value))
  return attempts
}

/** With its attempts and the row by which the next one is found. */
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
