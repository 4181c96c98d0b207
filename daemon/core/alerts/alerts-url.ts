/** The page of the findings of an organization, without an authority of its own: readers sign in. */
import { systemOrganizationId } from '../routing/policy/system-policy.ts'

export const alertsUrl = (organizationId: string): string => (organizationId === systemOrganizationId ? '/operator' : '/')
