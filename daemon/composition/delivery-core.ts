/** Delivery, composed: the attempts and the queue that makes them. */
import { reported } from '#core/activity.ts'
import { Attempts } from '#core/delivery/attempt/attempt.ts'
import { deliveryLimits } from '#core/delivery/health/delivery-limits.ts'
import { DeliveryQueue } from '#core/delivery/queue/queue.ts'
import { Signer } from '#core/domains/signer.ts'
import { followDecision } from '#core/forms/replies/reply-sent.ts'
import { heldLength, queueLength } from '#store/queue.ts'
import { broke, type Composition } from './parts.ts'

/** The attempts, with the retry schedule of the configuration. */
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

/** The queue, and its numbers for metrics. */
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
  metrics.watch('queue_held', 'Messages that people hold back in the queue; counted in queue_length, too.', () => heldLength(database))
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
  metrics.watch('breakers_open', 'Destinations whose circuit breaker is not closed.', () => health.open)
  metrics.watch('deliveries_active', 'Delivery attempts under way.', () => queue.active)
  return queue
}
