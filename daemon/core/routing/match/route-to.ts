/** Determines whether mail without a named destination reaches a destination, and the route of all mail of a project. Pure. */
import { isOpenTo } from '../../access/principal/project-choice.ts'
import type { Destination } from '../destination.ts'
import type { DestinationHealth } from './environment.ts'
import { matchRoute, type Route, type RoutingSettings } from './match.ts'

/** Route to a destination: its first rule, the environment of the project, or the default sender. */
export interface RouteTo {
  readonly leadsHere: boolean
  readonly by: 'rule' | 'project' | 'org_default' | 'none'
  readonly ruleId: string | null
}

const nowhere: RouteTo = { leadsHere: false, by: 'none', ruleId: null }

/** Assumes that all destinations are up. */
const upright: DestinationHealth = { restMs: () => 0 }

/**
 * Returns the route in the first of these projects whose settings lead to the destination; `leadsHere` is false if there is no such
 * project.
 */
export function routeTo(settings: RoutingSettings, projectIds: readonly string[], destination: Destination): RouteTo {
  return projectIds.map((projectId) => routeIn(settings, projectId, destination)).find(({ leadsHere }) => leadsHere) ?? nowhere
}

function routeIn(settings: RoutingSettings, projectId: string, destination: Destination): RouteTo {
  if (!isOpenTo(destination, projectId)) return nowhere
  const all = routeOfAllMail(settings, projectId, destination)
  const rules = settings.rules.get(projectId) ?? []
  const last = all.by === 'rule' ? rules.findIndex(({ id }) => id === all.ruleId) : rules.length
  const rule = rules.slice(0, last + 1).find((one) => isMeant(destination, one))
  if (rule) return { leadsHere: true, by: 'rule', ruleId: rule.id }
  const environment = settings.projects?.get(projectId)?.environment ?? undefined
  if (all.by === 'project' && isMeant(destination, { destinationId: null, environment }))
    return { leadsHere: true, by: 'project', ruleId: null }
  return all.by === 'org_default' && all.destination?.id === destination.id ? { leadsHere: true, by: 'org_default', ruleId: null } : nowhere
}

/** A destination of an environment counts, because it receives mail when destinations with smaller priority are down. */
const isMeant = (
  { id, environment }: Destination,
  way: { readonly destinationId: string | null; readonly environment?: string | undefined },
): boolean => way.destinationId === id || (way.environment !== undefined && way.environment === environment)

/** Whether mail of the project without a sender or domain rule has a destination. */
export const hasDefaultRoute = (settings: RoutingSettings, projectId: string): boolean =>
  matchRoute(settings, { projectId, from: '' }, upright).by !== 'none'

/** Returns the route of mail without a sender or domain rule, as if the destination were live. */
export function routeOfAllMail(settings: RoutingSettings, projectId: string, destination: Destination): Route {
  const live: Destination = { ...destination, mode: 'live' }
  const { destinations, orgDefault } = settings
  const asLive = {
    ...settings,
    destinations: new Map([...destinations, [live.id, live]]),
    orgDefault: orgDefault?.id === live.id ? live : orgDefault,
  }
  return matchRoute(asLive, { projectId, from: '' }, upright)
}
