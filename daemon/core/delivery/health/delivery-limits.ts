/** What the queue must know of a destination now: its limits, and what its circuit breaker lets through. */
import type { Policies } from '../../routing/policy/policy.ts'
import type { DeliveryLimits } from './destination-load.ts'
import type { HealthRegistry } from './health-registry.ts'

/** Returns the limits of a destination. One that is gone still gets its entries failed, over `connectionsWhenGone` connections. */
export const deliveryLimits =
  (policies: Policies, health: HealthRegistry, connectionsWhenGone: number) =>
  async (organizationId: string, destinationId: string): Promise<DeliveryLimits> => {
    const { destinations, failovers } = await policies.of(organizationId)
    const destination = destinations.get(destinationId)
    if (!destination) return { maxConnections: connectionsWhenGone, maxRatePerMin: null }
    const { maxConnections, maxRatePerMin } = destination
    // where messages may pass it over, each of them looks for itself; but a provider that throttled begins with one at a time
    if (failovers.isSkipped(destinationId))
      return { maxConnections, maxRatePerMin, breaker: { pauseMs: 0, onTrial: health.isSpeedingUp(destinationId) } }
    return { maxConnections, maxRatePerMin, breaker: health.gate(destination) }
  }
