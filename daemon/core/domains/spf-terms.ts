/** What an SPF record comes to with the records that it includes or redirects to (RFC 7208 §5.2, RFC 7208 §6.1). */
import { isSpf, termsOf } from '#config/mail/spf-record.ts'
import type { RecordResolver } from '../outbound/resolver.ts'

/** Terms that cost a receiver a DNS look-up (RFC 7208 §4.6.4). */
const costly = /^[+~?-]?(?:include:|a(?:$|[:/])|mx(?:$|[:/])|ptr(?:$|:)|exists:|redirect=)/
/** Terms that are kept; a longer chain of records is no use to receivers. */
const maxTerms = 500
/** Receivers give up with permerror after so many (RFC 7208 §4.6.4). */
export const maxSpfLookups = 10

export interface SpfReading {
  /** In lower case; of included records only what lets a sender pass. */
  readonly terms: readonly string[]
  /** Look-ups that a receiver may have to make. Counting stops behind the limit. */
  readonly lookups: number
  /** Included or redirected domains that have no SPF record, which makes receivers take none of it. */
  readonly broken: readonly string[]
}

/** Follows the record as a receiver would. Rejects as the resolver does. */
export async function readSpf(resolver: Pick<RecordResolver, 'resolveTxt'>, record: string): Promise<SpfReading> {
  const found = { terms: [] as string[], lookups: 0, broken: [] as string[] }
  await follow(resolver, termsOf(record), false, found)
  return found
}

interface SpfWalk {
  readonly terms: string[]
  lookups: number
  readonly broken: string[]
}

async function follow(
  resolver: Pick<RecordResolver, 'resolveTxt'>,
  terms: readonly string[],
  isIncluded: boolean,
  found: SpfWalk,
): Promise<void> {
  const hasAll = terms.some((term) => /^[+~?-]?all$/.test(term))
  for (const term of terms) {
    const passes = !/^[~?-]/.test(term) && !/^\+?all$/.test(term)
    if ((!isIncluded || passes) && found.terms.length < maxTerms) found.terms.push(term)
    if (!costly.test(term)) continue
    const [, how, domain = ''] = /^\+?(include:|redirect=)(.+)$/.exec(term) ?? []
    if (how === 'redirect=' && hasAll) continue // not looked at beside "all" (RFC 7208 §6.1)
    found.lookups++
    if (how === undefined || domain.includes('%') || found.lookups > maxSpfLookups) continue // a macro depends on the mail
    const [next, ...others] = (await resolver.resolveTxt(domain)).filter(isSpf)
    if (next === undefined || others.length > 0) found.broken.push(domain)
    else await follow(resolver, termsOf(next), isIncluded || how === 'include:', found)
  }
}
