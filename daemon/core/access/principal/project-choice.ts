/** Determines the project of a request. Spec "Project rules" 1 to 3. */
import { invalid, Refusal } from '../../refusals.ts'
import type { Principal } from './principal.ts'

/**
 * Returns the id of the project in `field`. Returns undefined if the request has no such field and the caller can reach all projects.
 * Throws `not_found` for missing, foreign and unreachable projects, so that callers cannot distinguish them.
 */
export function reachableProject(
  principal: Principal,
  projects: ReadonlyMap<string, unknown>,
  named: string | undefined,
  field: string,
): string | undefined {
  if (named === undefined) return principal.bound ? principal.projectId : undefined
  if (projects.has(named) && (!principal.bound || named === principal.projectId)) return named
  throw new Refusal('not_found', `${field}: no project has this id; leave it out to use the project of your key.`)
}

/** Returns whether a project can use a resource: its own resources, and those shared with the whole organization. */
export const isOpenTo = (
  { projectId: owner, shared }: { readonly projectId: string; readonly shared?: unknown },
  projectId: string,
): boolean => owner === projectId || shared !== undefined

/**
 * Returns the destination with this id if the caller can use it. Returns undefined for missing ids and for destinations of unreachable
 * projects.
 */
export function reachableDestination<D extends { readonly projectId: string; readonly shared?: unknown }>(
  { bound, projectId }: Pick<Principal, 'bound' | 'projectId'>,
  destinations: ReadonlyMap<string, D>,
  id: string,
): D | undefined {
  const destination = destinations.get(id)
  return destination && (!bound || isOpenTo(destination, projectId)) ? destination : undefined
}

/** The fields of a destination that the check of an environment reads. */
interface InEnvironment {
  readonly projectId: string
  readonly shared?: unknown
  readonly environment: string | null
}

/** Throws `validation_failed` if no destination of the project has the environment. The error lists the known environments. */
export function requireEnvironment(destinations: ReadonlyMap<string, InEnvironment>, projectId: string, environment: string): void {
  const known = new Set<string>()
  for (const one of destinations.values()) if (one.environment !== null && isOpenTo(one, projectId)) known.add(one.environment)
  if (known.has(environment)) return
  const there =
    known.size === 0
      ? 'none of its destinations has an environment'
      : `known environments: ${[...known].toSorted().slice(0, 20).join(', ')}`
  throw invalid([{ path: 'environment', message: `no destination of this project has the environment ${environment}; ${there}` }])
}

/** Returns the project of a new resource: the given project, or the principal's project. */
export const owningProject = (principal: Principal, projects: ReadonlyMap<string, unknown>, named: string | undefined): string =>
  reachableProject(principal, projects, named, 'project_id') ?? principal.projectId
