/** Composes delivery: the attempts and the queue. */
import { reported } from '#core/activity.ts'
import { Attempts } from '#core/delivery/attempt/attempt.ts'
import { deliveryLimits } from '#core/delivery/health/delivery-limits.ts'
import { DeliveryQueue } from '#core/delivery/queue/queue.ts'
import { Signer } from '#core/domains/signer.ts'
import { followDecision } from '#core/forms/replies/reply-sent.ts'
import { heldLength, queueLength } from '#store/queue.ts'
import { broke, type Composition } from './parts.ts'

/** Creates the attempts, with the configured retry schedule. */
export function deliveryAttempts({ get, config: { delivery } }: Composition): Attempts {
  const { retrySeconds, unknownRetrySeconds, maxAgeHours, jitter } = delivery
  const core = get('core')
  return new Attempts({
    ...core,
    transport: get('transport'),
    listener: get('observer'),
    onCaptured: (capture) => get('inboxes').onCaptured(capture),
    health: get('healthRegistry'),
    random: get('random'),
    followDecision,
    signer: reported(get('activity'), new Signer(core), { sign: 'signature of a message' }),
    retry: {
      delaysMs: retrySeconds.map((seconds) => seconds * 1000),
      maxAgeMs: maxAgeHours * 3_600_000,
      jitter,
      unknownDelayMs: unknownRetrySeconds * 1000,
    },
  })
}

/** Creates the queue and its metrics. */
export function deliveryQueue(composition: Composition): DeliveryQueue {
  const { get, config, metrics, replace } = composition
  const { connectionsPerDestination, connectionsTotal, memoryBudgetBytes } = config.delivery
  const core = get('core')
  const health = get('healthRegistry')
  const { database } = core
  const queue = new DeliveryQueue({
    ...core,
    attempts: get('attempts'),
    limitsOf: deliveryLimits(core.policies, health, connectionsPerDestination),
    maxConnections: connectionsTotal,
    maxMemoryBytes: memoryBudgetBytes,
    onError: broke(composition, 'delivery'),
    ...replace.queue,
  })
  metrics.watch('queue_length', 'Messages waiting for a delivery attempt.', () => queueLength(database))
  metrics.watch('queue_held', 'Messages held in the queue; queue_length includes them.', () => heldLength(database))
  metrics.watch(
    'queue_oldest_due_seconds',
    'Time since the most overdue delivery attempt was due. A message that waits for a retry counts from the time of the retry.',
    () => queue.overdueMs() / 1000,
  )
  metrics.watch(
    'queue_oldest_age_seconds',
    'Time since the first attempt of the oldest queued message was due, including deferred messages; 0 if no first attempt is overdue.',
    async () => (await queue.oldestMs()) / 1000,
  )
  metrics.watch('breakers_open', 'Destinations whose circuit breaker is not closed.', () => health.open)
  metrics.watch('deliveries_active', 'Delivery attempts in progress.', () => queue.active)
  return queue
}
