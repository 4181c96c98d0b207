/** What an address is that other servers send mail to: one table, looked at from the top, where the first row that fits decides. */
import { foldAddress } from '../addresses.ts'
import type { SecretBox } from '../access/secret-box.ts'
import { looksLikeVerp, openVerpAddress } from '../trace/verp-address.ts'

export type RecipientKind =
  /** The return path of one recipient of one message (VERP), made here; forwarders may have wrapped it (SRS). */
  | 'bounce'
  /** A deliverability test, by its form; whether it takes mail now, the store knows. */
  | 'inspect'
  /** The people who run the service: RFC 5321 §4.5.1, RFC 2142 §4. */
  | 'postmaster'
  /** It has the form of a return path, and was not made here: somebody guesses. */
  | 'forged'
  /** None of these: a route of a tenant may take it, otherwise it is unknown. */
  | 'unknown'

export interface InboundFacts {
  readonly secrets: SecretBox
  /** A-label domain, null when none is set up. Return paths hold at any domain, as each proves the one it was made for. */
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

/** `address` is a mailbox, or `postmaster` alone. */
export function recipientKind(address: string, facts: InboundFacts): RecipientKind {
  const folded = foldAddress(address)
  return rows.find(([, fits]) => fits(folded, facts))?.[0] ?? 'unknown'
}

function isRole(address: string, { inboundDomain }: InboundFacts): boolean {
  return address === 'postmaster' || roles.has(mailboxAt(inboundDomain, address) ?? '')
}

/** The local part, folded, of an address at the inbound domain. */
export function mailboxAt(inboundDomain: string | null, address: string): string | undefined {
  const folded = foldAddress(address)
  const at = folded.lastIndexOf('@')
  return inboundDomain !== null && folded.slice(at + 1) === foldAddress(inboundDomain) ? folded.slice(0, at) : undefined
}
