/** When a delivery is tried again, and when no more. Pure. Spec "Events" 5, "Webhook attempt status". */
import type { DeliveryStatus, WebhookDelivery } from '../delivery.ts'

const minute = 60_000
const hour = 60 * minute

/** Waits after the first, second … failed attempt; after the one behind the last wait the delivery is parked. */
export const retryDelaysMs: readonly number[] = [minute, 5 * minute, 25 * minute, 2 * hour, 12 * hour, 24 * hour]

/** How an attempt ended: well, when there is no error. */
export interface AttemptEnd {
  readonly statusCode: number | null
  readonly error: string | null
  /** No further attempt can end otherwise. */
  readonly isFinal?: true | undefined
}

/** The delivery after an attempt that ended now. */
export function afterAttempt(delivery: WebhookDelivery, { statusCode, error, isFinal }: AttemptEnd, now: number): WebhookDelivery {
  const attemptCount = delivery.attemptCount + 1
  const delay = error === null || isFinal ? undefined : retryDelaysMs[attemptCount - delivery.begun.attempts - 1]
  const status: DeliveryStatus = error === null ? 'succeeded' : delay === undefined ? 'parked' : 'failed'
  const nextAttemptAt = delay === undefined ? null : now + delay
  return { ...delivery, attemptCount, status, lastStatusCode: statusCode, lastError: error, nextAttemptAt, updatedAt: now }
}

/** The delivery after an attempt during which somebody asked for it again: that stands. */
export const besideNewSchedule = (delivery: WebhookDelivery, { statusCode, error }: AttemptEnd, now: number): WebhookDelivery => ({
  ...delivery,
  attemptCount: delivery.attemptCount + 1,
  begun: { ...delivery.begun, attempts: delivery.begun.attempts + 1 },
  lastStatusCode: statusCode,
  lastError: error,
  updatedAt: now,
})

/** The delivery as it begins its schedule anew, due at once. */
export const begunAgain = (delivery: WebhookDelivery, now: number): WebhookDelivery => ({
  ...delivery,
  status: 'pending',
  begun: { at: now, attempts: delivery.attemptCount },
  nextAttemptAt: now,
  updatedAt: now,
})
