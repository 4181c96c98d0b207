/** Which project a request is about. Spec "Project rules" 1 to 3. */
import { invalid, Refusal } from '../../refusals.ts'
import type { Principal } from './principal.ts'

/**
 * The id of the project that was named in `field`, or undefined when none was and the caller may reach all of them.
 * Throws `not_found` alike for missing, foreign and unreachable projects.
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

/** Whether a project may use something: its own, and what the whole organization shares. */
export const isOpenTo = (
  { projectId: owner, shared }: { readonly projectId: string; readonly shared?: unknown },
  projectId: string,
): boolean => owner === projectId || shared !== undefined

/**
 * The destination of this id that the caller may use or choose by. Missing ids and those of projects out of reach get the same answer:
 * undefined.
 */
export function reachableDestination<D extends { readonly projectId: string; readonly shared?: unknown }>(
  { bound, projectId }: Pick<Principal, 'bound' | 'projectId'>,
  destinations: ReadonlyMap<string, D>,
  id: string,
): D | undefined {
  const destination = destinations.get(id)
  return destination && (!bound || isOpenTo(destination, projectId)) ? destination : undefined
}

/** As much of a destination as settings look at that name an environment. */
interface InEnvironment {
  readonly projectId: string
  readonly shared?: unknown
  readonly environment: string | null
}

/** Throws `validation_failed` for an environment that no destination of the project has, naming those there are. */
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

/** The project that something new belongs to: the named one, or that of the principal. */
export const owningProject = (principal: Principal, projects: ReadonlyMap<string, unknown>, named: string | undefined): string =>
  reachableProject(principal, projects, named, 'project_id') ?? principal.projectId
