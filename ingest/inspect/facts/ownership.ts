/** Which domains of a mail its sender can change, as far as the mail shows. */
import { organizationOf, sameOrganization } from '../../dns/domains.ts'
import type { Facts } from './mail-facts.ts'

const freeMail =
  /^(?:gmail\.com|googlemail\.com|(?:yahoo|ymail|rocketmail)\.[a-z.]{2,6}|(?:outlook|hotmail|live|msn)\.[a-z.]{2,6}|aol\.com|icloud\.com|me\.com|mac\.com|gmx\.[a-z]{2,3}|web\.de|t-online\.de|freenet\.de|proton\.me|protonmail\.com|bluewin\.ch|orange\.fr|free\.fr|laposte\.net|wanadoo\.fr|libero\.it|mail\.ru|yandex\.[a-z]{2,3}|qq\.com|163\.com|zoho\.com)$/

/** Whether the domain belongs to a provider of mailboxes for everybody, whose addresses are sent from its own servers only. */
export const isMailboxProvider = (domain: string): boolean => freeMail.test(organizationOf(domain))

/**
 * Whether advice about the DNS of a domain is for the sender: the domain is of the organization of the From address, and no
 * provider of mailboxes. With the null sender, it is the name of the sender's own server.
 */
export function isOwnDomain(domain: string, { mail, input }: Pick<Facts, 'mail' | 'input'>): boolean {
  if (isMailboxProvider(domain)) return false
  return mail.fromDomain === '' || input.session.mailFrom === '' || sameOrganization(domain, mail.fromDomain)
}
