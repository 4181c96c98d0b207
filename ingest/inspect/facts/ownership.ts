/** Determines the domains of a mail whose DNS its sender can change, as far as the mail shows them. */
import { isFreeMail } from '#config/mail/mailbox-providers.ts'
import { organizationOf, sameOrganization } from '../../dns/domains.ts'
import type { Facts } from './mail-facts.ts'

/** Reports whether the domain belongs to a public mailbox provider, whose addresses send from its servers only. */
export const isMailboxProvider = (domain: string): boolean => isFreeMail(organizationOf(domain))

/**
 * Reports whether the sender can change the DNS of a domain. The domain must belong to the organization of the From address, and not to a
 * mailbox provider. With the null reverse-path, it is the name of the sender's server.
 */
export function isOwnDomain(domain: string, { mail, input }: Pick<Facts, 'mail' | 'input'>): boolean {
  if (isMailboxProvider(domain)) return false
  return mail.fromDomain === '' || input.session.mailFrom === '' || sameOrganization(domain, mail.fromDomain)
}
