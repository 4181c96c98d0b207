/** Failover policies: set, list and delete. Spec "Failover policy". */
import type { Page } from '#store/database.ts'
import type { Core } from '../../core.ts'
import { pageOfLoaded, type List, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import { isOpenTo, owningProject, reachableProject } from '../../access/principal/project-choice.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { invalid, Refusal, type FieldProblem } from '../../refusals.ts'
import { failoverPolicies, maxFallbacks, type FailoverCause, type FailoverPolicy } from '../failover-policy.ts'
import type { Policy } from '../policy/policy.ts'
import { failoverWarnings, type RouteWarning } from './route-warnings.ts'

export interface FailoverRequest {
  readonly primaryId: string
  readonly fallbackIds: readonly string[]
  readonly on: readonly FailoverCause[]
  readonly latencyMs?: number | undefined
  /** Defaults to the project of the primary destination, or of the principal for an organization-wide destination. */
  readonly projectId?: string | undefined
}

/** A policy after a change, with warnings. */
export type SetFailover = FailoverPolicy & { readonly warnings: readonly RouteWarning[] }

const withWarnings = (settings: Policy, policy: FailoverPolicy): SetFailover => ({
  ...policy,
  warnings: failoverWarnings(settings, policy),
})

export class FailoverPolicies implements List<OfProject, FailoverPolicy> {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Creates or replaces the policy of a primary destination. The same policy changes nothing. */
  set(principal: Principal, request: FailoverRequest): Promise<SetFailover> {
    const { writes, policies, database, clock } = this.#core
    return writes.runAudited(principal, 'failover_policy.set', async (change) => {
      const settings = await policies.of(principal.organizationId)
      const projectId = projectOfFailover(settings, principal, request)
      const { primaryId, fallbackIds, on, latencyMs = null } = request
      const wanted = { projectId, primaryId, fallbackIds, on, latencyMs }
      const before = settings.failovers.of(projectId, primaryId)
      const now = clock.now()
      if (!before) {
        const record = { ...wanted, id: database.newId('fop', now), createdAt: now, updatedAt: now }
        change.insert(failoverPolicies, principal.organizationId, record)
        return withWarnings(settings, record)
      }
      if (isSame(before, wanted)) return withWarnings(settings, before)
      const stored = await database.get(failoverPolicies, principal, before.id)
      if (!stored) throw notFound()
      const record = { ...stored.record, ...wanted, updatedAt: now }
      change.replace(failoverPolicies, principal.organizationId, stored, record)
      return withWarnings(settings, record)
    })
  }

  /** Oldest first. */
  async list(principal: Principal, { projectId: named, ...query }: PageQuery & OfProject): Promise<Page<FailoverPolicy>> {
    const { projects, failovers } = await this.#core.policies.of(principal.organizationId)
    const project = reachableProject(principal, projects, named, 'project')
    const all = failovers.all.filter(({ projectId }) => project === undefined || projectId === project)
    return pageOfLoaded(failoverPolicies, principal, all, query, { positionOf: ({ createdAt, id }) => [createdAt, id] })
  }

  /** Deletes the policy of a primary destination. Mail already moved to a fallback is attempted there, then at the primary. */
  async remove(principal: Principal, primaryId: string, project: string | undefined): Promise<void> {
    const { writes, policies, database } = this.#core
    await writes.runAudited(principal, 'failover_policy.deleted', async (change) => {
      const { projects, failovers } = await policies.of(principal.organizationId)
      const asked = reachableProject(principal, projects, project, 'project')
      const found = failovers.all.filter((policy) => policy.primaryId === primaryId && (asked === undefined || policy.projectId === asked))
      const one = found.find(({ projectId }) => projectId === principal.projectId) ?? found[0]
      const stored = one && (await database.get(failoverPolicies, principal, one.id))
      if (!stored) throw notFound()
      change.remove(failoverPolicies, principal.organizationId, stored)
    })
  }
}

const notFound = (): Refusal => new Refusal('not_found', 'No failover policy has this primary destination.')

const isSame = (
  before: FailoverPolicy,
  { fallbackIds, on, latencyMs }: Pick<FailoverPolicy, 'fallbackIds' | 'on' | 'latencyMs'>,
): boolean =>
  before.latencyMs === latencyMs && before.fallbackIds.join(' ') === fallbackIds.join(' ') && before.on.join(' ') === on.join(' ')

/**
 * Returns the project of the policy. Throws `validation_failed` with all problems, and `not_found` for a project that the caller cannot
 * access.
 */
export function projectOfFailover(
  settings: Policy,
  principal: Principal,
  { primaryId, fallbackIds, on, latencyMs, projectId: named }: FailoverRequest,
): string {
  const primary = settings.destinations.get(primaryId)
  const asked = reachableProject(principal, settings.projects, named, 'project_id')
  const projectId =
    asked ?? (primary && primary.shared === undefined ? primary.projectId : owningProject(principal, settings.projects, named))
  const isOpen = (id: string): boolean => {
    const destination = settings.destinations.get(id)
    return destination !== undefined && isOpenTo(destination, projectId)
  }
  const problems: FieldProblem[] = []
  const unknown = 'no destination of this project has this id'
  if (!isOpen(primaryId)) problems.push({ path: 'primary_id', message: unknown })
  if (fallbackIds.length === 0) problems.push({ path: 'fallback_ids', message: 'give at least one destination that takes over' })
  if (fallbackIds.length > maxFallbacks) problems.push({ path: 'fallback_ids', message: `can have at most ${maxFallbacks} destinations` })
  for (const [at, id] of fallbackIds.entries()) {
    const path = `fallback_ids.${at}`
    if (id === primaryId) problems.push({ path, message: 'is the primary destination itself; leave it out' })
    else if (fallbackIds.indexOf(id) < at) problems.push({ path, message: 'is already in the list; leave it out' })
    else if (!isOpen(id)) problems.push({ path, message: unknown })
  }
  if (on.length === 0) problems.push({ path: 'conditions.on', message: 'give at least one condition' })
  if (new Set(on).size < on.length) problems.push({ path: 'conditions.on', message: 'contains a condition twice' })
  if (on.includes('latency') && latencyMs === undefined)
    problems.push({ path: 'conditions.latency_ms', message: 'is required with the condition latency: the maximum latency in milliseconds' })
  if (!on.includes('latency') && latencyMs !== undefined)
    problems.push({
      path: 'conditions.latency_ms',
      message: 'has an effect only with the condition latency; add it to on, or leave this out',
    })
  if (problems.length > 0) throw invalid(problems)
  return projectId
}
