/** Finds the DNS records of the sender that a refusal is about. Pure. */
import { domainOf } from '../search/related-refusals.ts'
import type { RefusalSeen } from '../search/refusal.ts'
import type { SenderRecord } from '../search/look-ups.ts'
import type { Trace, TraceRecipient } from '../../trace/trace.ts'

/** Enhanced codes and words of each record type. A refusal that matches no type may be about any of them. RFC 7372, RFC 7489. */
const signs = {
  SPF: { details: /^7\.(23|24|26|27|515)$/, word: /\bspf\b/i },
  DKIM: { details: /^7\.(2[0-2]|26|30|515)$/, word: /\bdkim\b/i },
  DMARC: { details: /^7\.(26|31|32|40|509|515)$/, word: /\bdmarc\b/i },
} as const
const reverse = { details: /^7\.(23|25)$/, word: /\b(ptr|rdns|reverse dns)\b/i }

export function recordsOf({ classification, reply }: RefusalSeen, trace: Trace, recipient: TraceRecipient): SenderRecord[] {
  const { category, status } = classification
  const envelope = domainOf((recipient.returnPath ?? trace.mailFrom) || trace.headerFrom)
  if (category === 'sender') return [{ purpose: 'MX', domain: envelope, name: envelope }]
  if (category !== 'authentication') return []
  const isAbout = ({ details, word }: { readonly details: RegExp; readonly word: RegExp }): boolean =>
    details.test(status?.slice(2) ?? '') || word.test(reply?.text ?? '')
  const named = (['SPF', 'DKIM', 'DMARC'] as const).filter((purpose) => isAbout(signs[purpose]))
  if (named.length === 0 && isAbout(reverse)) return []
  const author = domainOf(trace.headerFrom)
  return (named.length > 0 ? named : (['SPF', 'DKIM', 'DMARC'] as const)).flatMap((purpose): SenderRecord[] => {
    if (purpose === 'SPF') return [{ purpose, domain: envelope, name: envelope }]
    if (purpose === 'DMARC') return [{ purpose, domain: author, name: `_dmarc.${author}` }]
    return (trace.signedBy ?? []).map(({ domain, selector }) => ({ purpose, domain, name: `${selector}._domainkey.${domain}` }))
  })
}

/** Whether the message was not signed although the refusal is about authentication. */
export const isUnsigned = (records: readonly SenderRecord[], { category }: RefusalSeen['classification'], { signedBy }: Trace): boolean =>
  category === 'authentication' && records.length > 0 && signedBy === undefined
