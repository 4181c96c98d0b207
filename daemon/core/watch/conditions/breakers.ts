/** Condition of circuit breakers, from the memory of this process. Pure. */
import type { BreakerView } from '../../delivery/health/health-registry.ts'
import { breakerFinding, destinationFacts } from '../../doctor/delivery-findings.ts'
import type { Observed } from '../../findings/finding.ts'
import type { Destination } from '../../routing/destination.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import type { Condition } from '../condition.ts'

/** A trial after the pause takes less time. */
const trialMs = 60_000
/** A breaker without a trial for this time after its pause opens no finding, but keeps an open one. */
const oldMs = 3_600_000

/**
 * From the opening of a breaker until it is closed; alerts wait longer. After the pause, the breaker may have no message for a trial: then
 * mail that another daemon delivers ends the finding. `hasDelivered` is true if counts show a message that was accepted after this time.
 */
export const breakerConditions = (
  policy: Pick<Policy, 'destinations' | 'failovers'>,
  breakerOf: (destination: Destination) => BreakerView,
  hasDelivered: (destinationId: string, since: number) => boolean,
  now: number,
): readonly Condition[] =>
  [...policy.destinations.values()].flatMap((destination): readonly Condition[] => {
    const breaker = breakerOf(destination)
    const idleMs = breaker.phase === 'half_open' && breaker.until !== null ? now - breaker.until : 0
    if (idleMs >= trialMs && hasDelivered(destination.id, now - idleMs)) return []
    if (idleMs >= oldMs) return [{ kind: 'destination.resting', subject: destination.id }]
    return breakerFinding(destinationFacts(destination, policy, ['breaker_open']), breaker)
  })

/** Adds the number of waiting messages to the finding of a paused destination. */
export const withWaiting = (seen: Observed, waiting: number): Observed => ({
  ...seen,
  params: { ...seen.params, counted: 'yes', waiting },
})
