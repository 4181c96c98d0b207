/** Promotion to live: an optional rule for all mail of a project, and warnings about missing routes. Spec "Destination mode". */
import type { Change } from '#store/change.ts'
import { reachableProject } from '../../access/principal/project-choice.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Core } from '../../core.ts'
import { invalid, Refusal } from '../../refusals.ts'
import type { Destination } from '../destination.ts'
import type { Route } from '../match/match.ts'
import { routeOfAllMail, routeTo, type RouteTo } from '../match/route-to.ts'
import type { Policy } from '../policy/policy.ts'
import { routingRules } from '../rule.ts'
import type { RouteWarning } from '../rules/route-warnings.ts'
import { newRule } from '../rules/rules.ts'

export interface GoLive {
  /** Adds a rule for all mail of the project in the same write. */
  readonly defaultRoute?: boolean | undefined
  /** Project of an organization-wide destination; defaults to the caller's. */
  readonly projectId?: string | undefined
}

/** Lower precedence than every rule with the default priority. */
const defaultRoutePriority = 1000

/**
 * Adds a rule for all mail of the project, unless all mail reaches the destination already. Throws `conflict` if all mail has another
 * route, `not_found` for a project that the caller cannot access, and `validation_failed` for a project of another destination.
 */
export function addDefaultRoute(
  { database, clock }: Pick<Core, 'database' | 'clock'>,
  { change, policy, principal }: { readonly change: Change; readonly policy: Policy; readonly principal: Principal },
  destination: Destination,
  named: string | undefined,
): RouteTo {
  const projectId = projectOfRoute(policy, principal, destination, named) ?? principal.projectId
  const all = routeOfAllMail(policy, projectId, destination)
  if (all.by !== 'none' && all.destination?.id !== destination.id) throw otherWay(all)
  if (all.by !== 'none') return routeTo(policy, [projectId], destination)
  const request = { match: { any: true }, destinationId: destination.id, priority: defaultRoutePriority, projectId } as const
  const rule = newRule(database, policy, principal, request, clock.now())
  change.insert(routingRules, principal.organizationId, rule)
  return { leadsHere: true, by: 'rule', ruleId: rule.id }
}

/** Returns the current route of the caller's projects to the destination. Throws like `addDefaultRoute`. */
export function routeNow(policy: Policy, principal: Principal, destination: Destination, named: string | undefined): RouteTo {
  const project = projectOfRoute(policy, principal, destination, named)
  return routeTo(policy, project === undefined ? [...policy.projects.keys()] : [project], destination)
}

/** Returns the project, or undefined for any project of the organization. */
function projectOfRoute(policy: Policy, principal: Principal, destination: Destination, named: string | undefined): string | undefined {
  const project = reachableProject(principal, policy.projects, named, 'project_id')
  if (destination.shared !== undefined) return project
  if (named === undefined || named === destination.projectId) return destination.projectId
  throw invalid([{ path: 'project_id', message: 'is not the project of this destination; leave it out' }])
}

const otherWays = {
  rule: (name: string, ruleId: string) => `through ${name} by routing rule ${ruleId}. Update or delete the rule first.`,
  project: (name: string) => `through ${name} by the environment of the project. Change the environment, or create a routing rule.`,
  org_default: (name: string) => `through ${name}, the default sender of the organization. Create a routing rule to use this destination.`,
}

function otherWay({ by, ruleId, destination }: Route): Refusal {
  const way = by === 'project' || by === 'org_default' ? by : 'rule'
  const message = `All mail of the project goes ${otherWays[way](destination?.name ?? '', ruleId ?? '')}`
  return new Refusal('conflict', message, {
    nextAction: way === 'rule' ? 'update_routing_rule' : 'create_routing_rule',
    details: { by: way, ...(ruleId !== null && { rule_id: ruleId }) },
  })
}

/** Returns warnings if no mail leaves through a live destination. `again` tells the caller how to add the default route. */
export function goLiveWarnings(
  policy: Policy,
  principal: Principal,
  {
    destination,
    route,
    again,
    projectId,
  }: { readonly destination: Destination; readonly route: RouteTo } & {
    readonly again: string
    readonly projectId: string | undefined
  },
): readonly RouteWarning[] {
  if (route.leadsHere || destination.mode !== 'live') return []
  const project = policy.projects.get(projectId ?? (destination.shared === undefined ? destination.projectId : principal.projectId))
  const all = project && routeOfAllMail(policy, project.id, destination)
  const next = all?.destination ? 'Change that route, or create a rule for a sender or a domain.' : `${again}, or create a rule.`
  const fate = all?.destination
    ? `go to ${all.destination.name}`
    : project?.noRoutePolicy === 'capture'
      ? 'are captured (captured.no_route)'
      : 'are refused (no_route)'
  const message = `No routing rule leads to ${destination.name}. Messages without destination_id ${fate}. ${next}`
  return [{ code: 'not_routed', step: 'routing', message }]
}
