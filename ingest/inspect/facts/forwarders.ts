/** Who forwarded a mail, by the seals that they put on what they saw of it (RFC 8617). */
import { arc } from 'mailauth/lib/arc/index.js'
import type { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { watch, type Questions } from '../../dns/questions.ts'

export interface Forwarder {
  readonly domain: string
  /** Whether DMARC passed when the mail came to it. */
  readonly sawDmarcPass: boolean
}

/** The last one first; empty unless the chain holds, `unknown` when DNS kept silent about a key of it. */
export type Forwarders = readonly Forwarder[] | 'unknown'

/** Of a chain that is not whole, any part may be missing. */
interface ArcSet {
  readonly 'arc-seal'?: { readonly parsed?: { readonly d?: { readonly value?: unknown } } }
  readonly 'arc-authentication-results'?: { readonly parsed?: { readonly dmarc?: { readonly value?: unknown } } }
}
type Verified = Awaited<ReturnType<typeof dkimVerify>>
type FoundArc = Exclude<Verified['arc'], false | undefined>

/** `found` is what mailauth found while it verified the signatures. */
export async function forwardersIn(found: FoundArc, resolve: Questions['resolve']): Promise<Forwarders> {
  const { chain, lastEntry } = found as {
    chain: readonly ArcSet[] | false
    lastEntry?: { messageSignature?: Verified['results'][number] } | false
  }
  if (!chain) return []
  // before mailauth looks at them, as it rewrites them then
  const forwarders = chain.map((set) => ({
    domain: sealedBy(set),
    sawDmarcPass: set['arc-authentication-results']?.parsed?.dmarc?.value === 'pass',
  }))
  // for mailauth a chain fails as well when DNS does not give a key
  const watched = watch(resolve)
  const { status } = await arc(found as Parameters<typeof arc>[0], { resolver: watched.resolver })
  if (status.result === 'pass') return forwarders.toReversed()
  const isSilent = watched.hasFault() || (lastEntry && lastEntry.messageSignature?.status.result === 'temperror')
  return isSilent ? 'unknown' : []
}

const sealedBy = (set: ArcSet): string => {
  const domain = set['arc-seal']?.parsed?.d?.value
  return typeof domain === 'string' ? domain.toLowerCase() : ''
}
