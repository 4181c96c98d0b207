/** Rules for sending with an SMTP credential: it must be active, and the sender must be allowed. Pure. */
import type { SmtpCredential } from '../../access/smtp-credential.ts'
import type { RateLimit } from '../../visitors/rate-window.ts'
import { parseAddress } from '../../addresses.ts'
import { Refusal } from '../../refusals.ts'
import type { Policy } from '../../routing/policy/policy.ts'

/** Returns the current credential. Throws `unauthorized` if it was revoked, has expired, or differs from the credential of the login. */
export function currentCredential(
  { credentials }: Pick<Policy, 'credentials'>,
  id: string,
  nowMs: number,
  isSame: (credential: SmtpCredential) => boolean = () => true,
): SmtpCredential {
  const credential = credentials.get(id)
  if (credential && !isExpired(credential, nowMs) && isSame(credential)) return credential
  throw new Refusal('unauthorized', 'This SMTP credential was revoked or rotated, or has expired; log in with an active one.')
}

export const isExpired = ({ expiresAt }: SmtpCredential, nowMs: number): boolean => expiresAt !== null && expiresAt <= nowMs

/** Limit of messages with the null reverse-path per credential and hour. */
export const noticesPerHour: RateLimit = {
  name: 'bounces over submission',
  windowMs: 3_600_000,
  most: 100,
  message: 'This SMTP credential has sent 100 bounces within this hour, the maximum; send the rest later.',
}

/**
 * Throws `sender_not_allowed` if the whitelist of the credential excludes the domain of the address. `what` names the field with the
 * address.
 */
export function assertAllowedDomain(credential: SmtpCredential, address: string, what: string): void {
  if (isAllowedDomain(credential, address)) return
  const { allowedFromDomains } = credential
  const message = `${what} ${address || '(none)'} is not allowed for this SMTP credential; use an address at ${allowedFromDomains.slice(0, 5).join(', ')}.`
  throw new Refusal('sender_not_allowed', message)
}

/** Returns true if the whitelist contains the domain of the address. An empty whitelist allows all domains. */
export const isAllowedDomain = ({ allowedFromDomains }: SmtpCredential, address: string): boolean =>
  allowedFromDomains.length === 0 || allowedFromDomains.includes(parseAddress(address)?.domain ?? '')
