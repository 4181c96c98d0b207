/** The page of the findings that a channel gets, without an authority of its own: readers sign in. */
import { systemOrganizationId } from '../routing/policy/system-policy.ts'
import type { AlertChannel } from './channels/alert-channel.ts'

export function alertsUrl(organizationId: string, { projectId }: Pick<AlertChannel, 'projectId'>): string {
  if (organizationId === systemOrganizationId) return '/operator'
  const query = new URLSearchParams({ org: organizationId, ...(projectId !== '' && { project: projectId }) })
  return `/findings?${query.toString()}`
}
