/** Finds the forwarders of a mail by their ARC seals (RFC 8617). */
import { arc } from 'mailauth/lib/arc/index.js'
import type { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { watch, type Questions } from '../../dns/questions.ts'

export interface Forwarder {
  readonly domain: string
  /** The forwarder reported that DMARC passed when it received the mail. */
  readonly sawDmarcPass: boolean
}

/** Last forwarder first. Empty unless the chain is valid; `unknown` if DNS did not return one of its keys. */
export type Forwarders = readonly Forwarder[] | 'unknown'

/** All members are optional, because a chain may be incomplete. */
interface ArcSet {
  readonly 'arc-seal'?: { readonly parsed?: { readonly d?: { readonly value?: unknown } } }
  readonly 'arc-authentication-results'?: { readonly parsed?: { readonly dmarc?: { readonly value?: unknown } } }
}
type Verified = Awaited<ReturnType<typeof dkimVerify>>
type FoundArc = Exclude<Verified['arc'], false | undefined>

/** Validates the chain. `found` is mailauth's result of verifying the signatures. */
export async function forwardersIn(found: FoundArc, resolve: Questions['resolve']): Promise<Forwarders> {
  const { chain, lastEntry } = found as {
    chain: readonly ArcSet[] | false
    lastEntry?: { messageSignature?: Verified['results'][number] } | false
  }
  if (!chain) return []
  // collected first, because mailauth's validation changes these objects
  const forwarders = chain.map((set) => ({
    domain: sealedBy(set),
    sawDmarcPass: set['arc-authentication-results']?.parsed?.dmarc?.value === 'pass',
  }))
  // mailauth also reports a failed chain if DNS does not return a key
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
