/** Finds the address that gets a notice when a message does not reach a recipient. Pure; RFC 5321 §6.1, RFC 3834 §2. */
import type { NoticeSettings } from '../../access/notice-settings.ts'
import { parseAddress } from '../../addresses.ts'
import type { SendingDomain } from '../../domains/sending-domain.ts'
import { isNearAddress } from '../../outbound/address-guard.ts'
import { isPrivateName } from './satellite.ts'

/** Settings of the service. */
export interface AuthorSettings {
  /** Host name of this service. Addresses at this domain are local. */
  readonly hostname: string
  /** Recipient of mail to names without a domain, and of the notices for local addresses; null if not set. */
  readonly localRecipient: string | null
}

/** A message that was submitted. */
export interface Authored {
  /** RFC 5321 §2.3.1 reverse-path. */
  readonly mailFrom: string
  /** True for mail of a program or a list, and if the header block could not be read completely. */
  readonly isAutomatic: boolean
  /** Address of the client, or `sendmail` for `postern sendmail` on the author's host. */
  readonly client: string
  /** Domains that the credential may send for. */
  readonly allowedFromDomains: readonly string[]
  /** Notice settings of the credential or key. */
  readonly settings: NoticeSettings
}

/**
 * Returns the address that gets a notice, or undefined. An address in the settings replaces the reverse-path. By default, only `postern
 * sendmail` and clients in private networks get notices, because elsewhere the reverse-path usually belongs to a program. The sender must
 * own the domain, so that a forged reverse-path causes no backscatter.
 */
export function authorOf(
  { hostname, localRecipient }: AuthorSettings,
  sendingDomains: ReadonlyMap<string, Pick<SendingDomain, 'status'>>,
  { mailFrom, isAutomatic, client, allowedFromDomains, settings: { failureNotices = 'auto', failureNoticeTo } }: Authored,
): string | undefined {
  const author = parseAddress(mailFrom)
  if (!author || isAutomatic || failureNotices === 'off') return undefined
  if (failureNotices === 'auto' && client !== 'sendmail' && !isNearAddress(client)) return undefined
  if (failureNoticeTo) return failureNoticeTo
  const { domain } = author
  if (allowedFromDomains.includes(domain) || sendingDomains.get(domain)?.status === 'verified') return author.address
  const isLocal = domain === hostname.toLowerCase() || isPrivateName(domain)
  return isLocal ? (localRecipient ?? undefined) : undefined
}
