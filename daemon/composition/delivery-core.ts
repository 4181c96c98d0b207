/** Delivery, composed: the attempts and the queue that makes them. */
import type { Config } from '#config/settings/load.ts'
import type { SecretBox } from '#core/access/secret-box.ts'
import type { Clock } from '#core/clock.ts'
import { Attempts, type AttemptOptions } from '#core/delivery/attempt/attempt.ts'
import { deliveryLimits } from '#core/delivery/health/delivery-limits.ts'
import type { HealthRegistry } from '#core/delivery/health/health-registry.ts'
import { DeliveryQueue } from '#core/delivery/queue/queue.ts'
import { Signer } from '#core/domains/signer.ts'
import type { Policies } from '#core/routing/policy/policy.ts'
import type { Database } from '#store/database.ts'
import { queueLength } from '#store/queue.ts'
import type { Metrics } from '../observability/metrics.ts'

interface DeliverySettings {
  readonly database: Database
  readonly policies: Policies
  readonly clock: Clock
  readonly secrets: SecretBox
}

export type AttemptParts = DeliverySettings & Pick<AttemptOptions, 'transport' | 'listener' | 'onCaptured' | 'health' | 'random'>

/** The attempts, with the retry schedule of the configuration. */
export function deliveryAttempts({ delivery }: Config, parts: AttemptParts): Attempts {
  const { retrySeconds, unknownRetrySeconds, maxAgeHours, jitter } = delivery
  const retry = {
    delaysMs: retrySeconds.map((seconds) => seconds * 1000),
    maxAgeMs: maxAgeHours * 3_600_000,
    jitter,
    unknownDelayMs: unknownRetrySeconds * 1000,
  }
  return new Attempts({ ...parts, signer: new Signer(parts), retry })
}

export interface QueueParts extends DeliverySettings {
  readonly attempts: Attempts
  readonly board: HealthRegistry
  readonly maxReady?: number
  readonly readyTotal?: number
  readonly onError: (error: unknown, traceId: string) => void
}

/** The queue, and what the metrics tell of it. */
export function deliveryQueue({ delivery }: Config, metrics: Metrics, parts: QueueParts): DeliveryQueue {
  const { connectionsPerDestination, connectionsTotal, memoryBudgetBytes } = delivery
  const { database, policies, board } = parts
  const limitsOf = deliveryLimits(policies, board, connectionsPerDestination)
  const limits = { maxConnections: connectionsTotal, maxMemoryBytes: memoryBudgetBytes }
  const queue = new DeliveryQueue({ ...parts, limitsOf, ...limits })
  metrics.watch('queue_length', 'Messages waiting for a delivery attempt.', () => queueLength(database))
  metrics.watch(
    'queue_oldest_due_seconds',
    'For how long the attempt that is most overdue has been due. No age: a message that waits for its next retry counts from when that is due.',
    () => queue.overdueMs() / 1000,
  )
  metrics.watch(
    'queue_oldest_age_seconds',
    'How long ago the first attempt was due of the message that waits longest, whether it is late or was put off; 0 when every message waits for its first attempt in time.',
    async () => (await queue.oldestMs()) / 1000,
  )
  metrics.watch('breakers_open', 'Destinations whose circuit breaker is not closed.', () => board.open)
  metrics.watch('deliveries_active', 'Delivery attempts under way.', () => queue.active)
  return queue
}
