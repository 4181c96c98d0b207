/** What an SMTP credential must satisfy to send: it is alive, its mail has somewhere to go, its senders are allowed. Pure. */
import type { SmtpCredential } from '../access/smtp-credential.ts'
import { parseAddress } from '../addresses.ts'
import { Refusal } from '../refusals.ts'
import type { Policy } from '../routing/policy.ts'

/** The credential as it is now. Throws `unauthorized` when it was revoked or has expired, or is not the one that logged in any more. */
export function currentCredential(
  { credentials }: Pick<Policy, 'credentials'>,
  id: string,
  nowMs: number,
  isSame: (credential: SmtpCredential) => boolean = () => true,
): SmtpCredential {
  const credential = credentials.get(id)
  if (credential && !isExpired(credential, nowMs) && isSame(credential)) return credential
  throw new Refusal('unauthorized', 'This SMTP credential was revoked, rotated or has expired; log in with a current one.')
}

export const isExpired = ({ expiresAt }: SmtpCredential, nowMs: number): boolean => expiresAt !== null && expiresAt <= nowMs

/** Throws `destination_misconfigured` when nothing would take what no routing rule does. */
export function assertHasDestination({ defaultDestinationId }: SmtpCredential, hasOrgDefault: boolean): void {
  if (defaultDestinationId !== null || hasOrgDefault) return
  const message = 'This SMTP credential has no default destination; set default_destination_id before sending.'
  throw new Refusal('destination_misconfigured', message, { nextAction: 'update_smtp_credential' })
}

/** Throws `sender_not_allowed` when the whitelist of the credential does not hold the domain of the address; `what` names its place. */
export function assertAllowedDomain({ allowedFromDomains }: SmtpCredential, address: string, what: string): void {
  if (allowedFromDomains.length === 0 || allowedFromDomains.includes(parseAddress(address)?.domain ?? '')) return
  const message = `${what} ${address || '(none)'} is not allowed for this SMTP credential; use an address at ${allowedFromDomains.slice(0, 5).join(', ')}.`
  throw new Refusal('sender_not_allowed', message)
}
