/** The retry schedule of deliveries. Pure. Spec "Events" 5, "Webhook attempt status". */
import type { DeliveryStatus, WebhookDelivery } from '../delivery.ts'

const minute = 60_000
const hour = 60 * minute

/** Delays after each failed attempt; the delivery is parked when the attempt after the last delay fails. */
export const retryDelaysMs: readonly number[] = [minute, 5 * minute, 25 * minute, 2 * hour, 12 * hour, 24 * hour]

/** Result of an attempt; `error` is null on success. */
export interface AttemptEnd {
  readonly statusCode: number | null
  readonly error: string | null
  /** A retry cannot succeed. */
  readonly isFinal?: true | undefined
  /** The receiver wants no request for this time. */
  readonly retryAfterMs?: number | undefined
}

/** Maximum delay that a receiver can request. */
const maxRetryAfterMs = hour

/** Returns the delivery after an attempt that ended now. */
export function afterAttempt(
  delivery: WebhookDelivery,
  { statusCode, error, isFinal, retryAfterMs = 0 }: AttemptEnd,
  now: number,
  delaysMs: readonly number[] = retryDelaysMs,
): WebhookDelivery {
  const attemptCount = delivery.attemptCount + 1
  const delay = error === null || isFinal ? undefined : delaysMs[attemptCount - delivery.begun.attempts - 1]
  const status: DeliveryStatus = error === null ? 'succeeded' : delay === undefined ? 'parked' : 'failed'
  const nextAttemptAt = delay === undefined ? null : now + Math.max(delay, Math.min(retryAfterMs, maxRetryAfterMs))
  return { ...delivery, attemptCount, status, lastStatusCode: statusCode, lastError: error, nextAttemptAt, updatedAt: now }
}

/** Returns the delivery after an attempt during which a redelivery was requested. The new schedule stays in force. */
export const besideNewSchedule = (delivery: WebhookDelivery, { statusCode, error }: AttemptEnd, now: number): WebhookDelivery => ({
  ...delivery,
  attemptCount: delivery.attemptCount + 1,
  begun: { ...delivery.begun, attempts: delivery.begun.attempts + 1 },
  lastStatusCode: statusCode,
  lastError: error,
  updatedAt: now,
})

/** Returns the delivery with a restarted schedule, due immediately. */
export const begunAgain = (delivery: WebhookDelivery, now: number): WebhookDelivery => ({
  ...delivery,
  status: 'pending',
  begun: { at: now, attempts: delivery.attemptCount },
  nextAttemptAt: now,
  updatedAt: now,
})
