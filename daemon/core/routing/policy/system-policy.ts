/** Settings for system mail: a built-in project, and the destination that the operator chose from the first organization. Not stored. */
import type { Destination } from '../destination.ts'
import { Failovers } from '../failover-policy.ts'

/** Partition for traces of system mail. It has no keys and no members. */
export const systemOrganizationId = 'system'
export const systemProjectId = 'prj_system'

/** Returns the fields of a `Policy`. */
export function systemPolicy(destination: Destination | undefined) {
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
      destination ? [[destination.id, { ...destination, projectId: systemProjectId, shared: undefined }]] : [],
    ),
    orgDefault: undefined,
    credentials: new Map<string, never>(),
    sendingDomains: new Map<string, never>(),
    rules: new Map<string, never>(),
    failovers: new Failovers([]),
    holds: [],
    webhooks: new Map<string, never>(),
  }
}
