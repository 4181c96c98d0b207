/** Condition of circuit breakers, from the memory of this process. Pure. */
import type { BreakerView } from '../../delivery/health/health-registry.ts'
import { breakerFinding, destinationFacts } from '../../doctor/delivery-findings.ts'
import type { Destination } from '../../routing/destination.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import type { Condition } from '../condition.ts'

/** From the opening of a breaker until it is closed; alerts wait longer. */
export const breakerConditions = (
  policy: Pick<Policy, 'destinations' | 'failovers'>,
  breakerOf: (destination: Destination) => BreakerView,
): readonly Condition[] =>
  [...policy.destinations.values()].flatMap((destination) =>
    breakerFinding(destinationFacts(destination, policy, ['breaker_open']), breakerOf(destination)),
  )
