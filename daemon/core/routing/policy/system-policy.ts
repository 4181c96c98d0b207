/** Settings for system mail: a built-in project, and destinations that the operator chose from the first organization. Not stored. */
import type { Destination } from '../destination.ts'
import { Failovers, type FailoverPolicy } from '../failover-policy.ts'

/** Partition for traces of system mail. It has no keys and no members. */
export const systemOrganizationId = 'system'
export const systemProjectId = 'prj_system'

/** Returns the fields of a `Policy`. Each destination fails over to the later ones. */
export function systemPolicy(chosen: readonly Destination[]) {
  const project = {
    id: systemProjectId,
    name: 'Postern',
    status: 'claimed' as const,
    isDefault: true,
    noRoutePolicy: 'reject' as const,
    sendBudget: null,
    monthlyCaptureCap: null,
    createdAt: 0,
  }
  const organization = {
    id: systemOrganizationId,
    name: 'Postern',
    plan: 'enterprise' as const,
    defaultProjectId: systemProjectId,
    createdAt: 0,
  }
  return {
    organization,
    projects: new Map([[systemProjectId, project]]),
    deleted: new Set<string>(),
    destinations: new Map<string, Destination>(
      chosen.map((destination) => [destination.id, { ...destination, projectId: systemProjectId, shared: undefined }]),
    ),
    orgDefault: undefined,
    credentials: new Map<string, never>(),
    sendingDomains: new Map<string, never>(),
    rules: new Map<string, never>(),
    failovers: new Failovers(chosen.slice(0, -1).map(({ id }, at) => failoverOf(id, chosen.slice(at + 1)))),
    holds: [],
    webhooks: new Map<string, never>(),
  }
}

const failoverOf = (primaryId: string, later: readonly Destination[]): FailoverPolicy => ({
  ...{ id: `system/${primaryId}`, projectId: systemProjectId, primaryId, fallbackIds: later.map(({ id }) => id) },
  ...{ on: ['transient', 'rate_limited', 'breaker_open', 'misconfigured'], latencyMs: null, createdAt: 0, updatedAt: 0 },
})
