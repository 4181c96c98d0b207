/** Condition of logins at providers, from the attempts and probes of this process. Pure. */
import { isLoginAccepted, isLoginRefused, type Login } from '../../delivery/health/login.ts'
import type { Destination } from '../../routing/destination.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import { observedAs, type Condition } from '../condition.ts'

const kind = 'destination.login_refused'

/**
 * Ends with a sign-in. A process that has not tried keeps the finding. So does one that was refused before another one delivered, until its
 * next attempt or probe: both could be right, and would otherwise open and end the finding in turn. `hasDelivered` is true if counts show a
 * message that was accepted after this time, by default after the finding opened.
 */
export function loginConditions(
  { destinations, failovers }: Pick<Policy, 'destinations' | 'failovers'>,
  loginOf: (destination: Destination) => Login | undefined,
  hasDelivered: (destinationId: string, since?: number) => boolean,
): readonly Condition[] {
  return [...destinations.values()].flatMap((destination): Condition[] => {
    const { id, name, mode, projectId, shared } = destination
    const login = loginOf(destination)
    if (mode !== 'live' || isLoginAccepted(login)) return []
    if (!isLoginRefused(login)) return hasDelivered(id) ? [] : [{ kind, subject: id }]
    if (hasDelivered(id, login.refusedAt)) return [{ kind, subject: id }]
    const policy = failovers.of(projectId, id)
    const [fallback] = policy?.on.includes('misconfigured') ? policy.fallbackIds : []
    const params = { destination: name, code: login.code, fallback: (fallback && destinations.get(fallback)?.name) ?? 'none' }
    return [observedAs(undefined, kind, id, params, shared === undefined ? projectId : '')]
  })
}
