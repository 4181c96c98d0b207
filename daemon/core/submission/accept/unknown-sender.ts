/** The domain of a sender that the organization can add as a sending domain, but has not added. */
import { isFreeMail } from '#config/mail/mailbox-providers.ts'
import { hasDomain } from '../../domains/check-records.ts'
import { systemOrganizationId } from '../../routing/policy/system-policy.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import type { Trace } from '../../trace/trace.ts'

/**
 * Returns undefined for a sending domain and its subdomains, for mailbox providers, whose DNS no sender can change, and for mail with a
 * sender that this service chose.
 */
export function unknownSender(
  { organization, sendingDomains }: Pick<Policy, 'organization' | 'sendingDomains'>,
  { door, headerFrom }: Pick<Trace, 'door' | 'headerFrom'>,
): string | undefined {
  if (door === 'failure_notice' || organization.id === systemOrganizationId) return undefined
  const domain = headerFrom.slice(headerFrom.lastIndexOf('@') + 1).toLowerCase()
  return domain === '' || hasDomain(sendingDomains, domain) || isFreeMail(domain) ? undefined : domain
}
