/** Classifies recipient addresses of inbound mail by a table; the first matching row decides. */
import { foldAddress } from '../addresses.ts'
import type { SecretBox } from '../access/secret-box.ts'
import { looksLikeVerp, openVerpAddress } from '../trace/verp-address.ts'

export type RecipientKind =
  /** Genuine return path of one recipient of one message (VERP), possibly wrapped by a forwarder (SRS). */
  | 'bounce'
  /** Address in the form of a deliverability test; the store determines whether it accepts mail. */
  | 'inspect'
  /** Operators of the service: RFC 5321 §4.5.1, RFC 2142 §4. */
  | 'postmaster'
  /** Address in the form of a return path that this service did not create: a guess. */
  | 'forged'
  /** Any other address: the address of a tenant's route, or unknown. */
  | 'unknown'

export interface InboundFacts {
  readonly secrets: SecretBox
  /** A-label domain; null if none is configured. Return paths are valid at any domain, because each proves its own domain. */
  readonly inboundDomain: string | null
  readonly inspectTests: { isOurs(address: string): boolean }
}

type Row = readonly [kind: RecipientKind, fits: (address: string, facts: InboundFacts) => boolean]

const roles: ReadonlySet<string> = new Set(['postmaster', 'abuse'])

const rows: readonly Row[] = [
  ['bounce', (address, { secrets }) => openVerpAddress(secrets, address) !== undefined],
  ['postmaster', isRole],
  ['inspect', (address, { inspectTests }) => inspectTests.isOurs(address)],
  ['forged', (address, { secrets }) => looksLikeVerp(secrets, address)],
]

/** Returns the kind of a mailbox, or of `postmaster` without a domain. */
export function recipientKind(address: string, facts: InboundFacts): RecipientKind {
  const folded = foldAddress(address)
  return rows.find(([, fits]) => fits(folded, facts))?.[0] ?? 'unknown'
}

function isRole(address: string, { inboundDomain }: InboundFacts): boolean {
  return address === 'postmaster' || roles.has(mailboxAt(inboundDomain, address) ?? '')
}

/** Returns the folded local part of an address at the inbound domain. */
export function mailboxAt(inboundDomain: string | null, address: string): string | undefined {
  const folded = foldAddress(address)
  const at = folded.lastIndexOf('@')
  return inboundDomain !== null && folded.slice(at + 1) === foldAddress(inboundDomain) ? folded.slice(0, at) : undefined
}
