/** Ownership of a destination: one project, or the whole organization. Pure. Spec "Project rules" 5 and 6. */
import { reachableProject } from '../../access/principal/project-choice.ts'
import { requireReach } from '../../access/principal/organization-acts.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { requireIncluded } from '../../plan/limits.ts'
import { invalid } from '../../refusals.ts'
import type { Destination } from '../destination.ts'
import type { Policy } from './policy.ts'
import { refuseWhileNamed } from './references.ts'

/** Omitted fields keep their value. A destination returned to its project is no longer the default sender. */
export interface OwnershipChanges {
  readonly projectId?: string | undefined
  readonly scope?: 'project' | 'org' | undefined
  readonly isOrgDefault?: boolean | undefined
}

export type Ownership = Pick<Destination, 'projectId' | 'shared'>

/**
 * Returns the new ownership. Throws `insufficient_scope` for keys of one project, `feature_disabled` if the plan excludes organization-wide
 * destinations, and `not_found` or `validation_failed` for an invalid owner. Throws `conflict` if a reference to the destination would
 * become invalid.
 */
export function ownershipOf(policy: Policy, principal: Principal, before: Destination, changes: OwnershipChanges): Ownership {
  const shared = sharedAfter(before.shared, changes)
  const projectId =
    changes.projectId === undefined
      ? before.projectId
      : (reachableProject(principal, policy.projects, changes.projectId, 'project_id') ?? '')
  if (shared !== before.shared) {
    requireReach(principal, 'destinations.change')
    if (rank(shared) > rank(before.shared)) requirePlan(policy)
    if (shared === undefined) refuseWhileNamed(policy, before.id, { than: new Set([before.projectId]) })
  }
  if (projectId !== before.projectId) {
    if (shared !== undefined)
      throw invalid([{ path: 'project_id', message: 'an organization-wide destination cannot move; give scope project too' }])
    refuseWhileNamed(policy, before.id)
  }
  return { projectId, shared }
}

/** Throws `insufficient_scope` if the destination belongs to the organization and the key to one project. */
export function assertMayChange(principal: Principal, { shared }: Destination): void {
  if (shared !== undefined) requireReach(principal, 'destinations.change')
}

function sharedAfter(before: Destination['shared'], { scope, isOrgDefault }: OwnershipChanges): Destination['shared'] {
  const isWide = scope === undefined ? before !== undefined : scope === 'org'
  if (!isWide && isOrgDefault === true)
    throw invalid([{ path: 'is_org_default', message: 'requires an organization-wide destination; give scope org too' }])
  if (!isWide) return undefined
  return (isOrgDefault ?? before === 'org_default') ? 'org_default' : 'org'
}

const requirePlan = ({ organization }: Policy): void =>
  requireIncluded(organization, 'orgDestinations', { lacks: 'marks no destination organization-wide' })

const ranks = [undefined, 'org', 'org_default'] as const
const rank = (shared: Destination['shared']): number => ranks.indexOf(shared)
