/** Relay or capture, and why. Spec "Relay or capture decision" 1 to 4. */
import { Refusal } from '../../refusals.ts'
import type { Project } from '../../tenancy/organization.ts'
import type { Outcome, OutcomeCause } from '../../trace/trace.ts'
import type { Route } from './match.ts'

/** The decision; `destinationId` is the destination that relays, or that would have relayed. */
export interface Decision {
  readonly outcome: Outcome
  readonly destinationId: string | null
  readonly reason: string
  /** Where the mode of the destination did not decide: what did. */
  readonly cause?: OutcomeCause
}

/** Why a send reaches the sandbox alone, whatever the destination. */
export type SandboxCause = Exclude<OutcomeCause, 'proof'>

const causes: Readonly<Record<SandboxCause, string>> = {
  agent: 'the token of this agent allows sends into the sandbox only (mcp:send-sandbox)',
  test: 'this is a test of a template',
}

/**
 * `isProof`: it goes to an address of ours, to see how mail by the destination arrives, so that a sandbox does not keep it. Throws
 * `no_route` when nothing matches and the project's policy refuses such sends.
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
