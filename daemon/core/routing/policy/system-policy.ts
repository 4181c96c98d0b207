/**
 * The settings by which mail of the service itself goes out: one project of its own and the one destination that the operator
 * chose among those of the first organization. Nothing of this is stored.
 */
import type { Destination } from '../destination.ts'
import { Failovers } from '../failover-policy.ts'

/** The partition of traces of the service's own mail; no key and no member belongs to it. */
export const systemOrganizationId = 'system'
export const systemProjectId = 'prj_system'

/** What a `Policy` holds. */
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
