/** Current limits of a destination for the queue, including its circuit breaker. */
import type { Policies } from '../../routing/policy/policy.ts'
import type { DeliveryLimits } from './destination-load.ts'
import type { HealthRegistry } from './health-registry.ts'

/** Returns the limits of a destination. Entries of a deleted destination fail over `connectionsWhenGone` connections. */
export const deliveryLimits =
  (policies: Policies, health: HealthRegistry, connectionsWhenGone: number) =>
  async (organizationId: string, destinationId: string): Promise<DeliveryLimits> => {
    const { destinations, failovers } = await policies.of(organizationId)
    const destination = destinations.get(destinationId)
    if (!destination) return { maxConnections: connectionsWhenGone, maxRatePerMin: null }
    const { maxConnections, maxRatePerMin } = destination
    // with failover, each message checks the breaker itself; a throttled provider still gets one message at a time
    if (failovers.isSkipped(destinationId))
      return { maxConnections, maxRatePerMin, breaker: { pauseMs: 0, onTrial: health.isSpeedingUp(destinationId) } }
    return { maxConnections, maxRatePerMin, breaker: health.gate(destination) }
  }
