/** Decides between relay and capture, with a reason. Spec "Relay or capture decision" 1 to 4. */
import { Refusal } from '../../refusals.ts'
import type { Project } from '../../tenancy/organization.ts'
import type { Outcome, OutcomeCause } from '../../trace/trace.ts'
import type { Route } from './match.ts'

/** The decision. `destinationId` is the destination that relays or would relay. */
export interface Decision {
  readonly outcome: Outcome
  readonly destinationId: string | null
  readonly reason: string
  /** The cause, if the mode of the destination did not decide. */
  readonly cause?: OutcomeCause
}

/** Why a send only reaches the sandbox, regardless of the destination. */
export type SandboxCause = Exclude<OutcomeCause, 'proof'>

const causes: Readonly<Record<SandboxCause, string>> = {
  agent: 'the token of this agent allows sends into the sandbox only (mcp:send-sandbox)',
  test: 'this is a test of a template',
}

/**
 * Decides the outcome. `isProof`: a deliverability test to an address of this service, which a sandbox destination relays too. Throws
 * `no_route` if nothing matches and the project's policy rejects such sends.
 */
export function decideOutcome(project: Project, route: Route, cause?: SandboxCause, isProof = false): Decision {
  if (project.status === 'anonymous') {
    return {
      outcome: 'captured.anonymous_project',
      destinationId: null,
      reason: 'The project is not claimed yet, so all its sends are captured.',
    }
  }
  const { destination } = route
  if (destination && isProof && !cause) {
    const reason = `A deliverability test of the destination ${destination.name}, which is in ${destination.mode} mode, is relayed.`
    return { outcome: 'relayed', destinationId: destination.id, reason, cause: 'proof' }
  }
  if (destination?.mode === 'sandbox') {
    return {
      outcome: 'captured.sandbox_destination',
      destinationId: destination.id,
      reason: `The destination ${destination.name} is in sandbox mode; promote it to live to relay.`,
    }
  }
  if (destination && cause) {
    return {
      outcome: 'captured.sandbox_destination',
      destinationId: destination.id,
      reason: `Captured, as ${causes[cause]}, although the destination ${destination.name} is live.`,
      cause,
    }
  }
  if (destination) return { outcome: 'relayed', destinationId: destination.id, reason: `The destination ${destination.name} is live.` }
  if (project.noRoutePolicy === 'capture' || cause) {
    return {
      outcome: 'captured.no_route',
      destinationId: null,
      reason: cause
        ? `No destination matches, and ${causes[cause]}.`
        : "No destination matches, and the project's no-route policy is to capture.",
      ...(cause && { cause }),
    }
  }
  throw new Refusal(
    'no_route',
    `${route.reason} The project's no-route policy is ${project.noRoutePolicy}; create a routing rule, or give a destination.`,
  )
}
