/** Who gets a notice when a message does not reach a recipient. Pure; RFC 5321 §6.1, RFC 3834 §2. */
import type { NoticeSettings } from '../../access/notice-settings.ts'
import { parseAddress } from '../../addresses.ts'
import type { SendingDomain } from '../../domains/sending-domain.ts'
import { isNearAddress } from '../../outbound/address-guard.ts'
import { isPrivateName } from './satellite.ts'

/** Settings of the service. */
export interface AuthorSettings {
  /** Our own name: mail from names at it is mail of this machine. */
  readonly hostname: string
  /** Gets the mail for local names; null when no one does. */
  readonly localRecipient: string | null
}

/** A message that was submitted. */
export interface Authored {
  /** RFC 5321 §2.3.1 reverse-path. */
  readonly mailFrom: string
  /** A program or a list sent it, or its header block could not be read to its end. */
  readonly isAutomatic: boolean
  /** The address of the client; `sendmail` for `postern sendmail`, which runs where the author is. */
  readonly client: string
  /** Domains that the credential may send for. */
  readonly allowedFromDomains: readonly string[]
  /** Of the credential or key. */
  readonly settings: NoticeSettings
}

/**
 * The address that gets a notice, or undefined. An address in the settings replaces the reverse-path. Programs of this machine and of
 * private networks have an author who reads mail at the reverse-path; elsewhere it usually belongs to a program. An author whose domain
 * is not known to be the sender's gets none, so that a forged reverse-path brings no mail to others (backscatter).
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
