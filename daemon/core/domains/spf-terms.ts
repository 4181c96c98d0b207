/** Terms of an SPF record and of the records that it includes or redirects to (RFC 7208 §5.2, RFC 7208 §6.1). */
import { isSpf, termsOf } from '#config/mail/spf-record.ts'
import type { RecordResolver } from '../outbound/resolver.ts'

/** Terms that cost a receiver a DNS look-up (RFC 7208 §4.6.4). */
const costly = /^[+~?-]?(?:include:|a(?:$|[:/])|mx(?:$|[:/])|ptr(?:$|:)|exists:|redirect=)/
/** Maximum number of stored terms; receivers do not follow longer chains. */
const maxTerms = 500
/** Receivers return permerror beyond this number (RFC 7208 §4.6.4). */
export const maxSpfLookups = 10

export interface SpfReading {
  /** In lower case; from included records only terms that let a sender pass. */
  readonly terms: readonly string[]
  /** Number of look-ups that a receiver can need. Counting stops beyond the limit. */
  readonly lookups: number
  /** Included or redirected domains without SPF record; receivers then ignore the whole record. */
  readonly broken: readonly string[]
}

/** Follows the record as a receiver does. Rejects like the resolver. */
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
    if (how === 'redirect=' && hasAll) continue // ignored if the record has "all" (RFC 7208 §6.1)
    found.lookups++
    if (how === undefined || domain.includes('%') || found.lookups > maxSpfLookups) continue // a macro depends on the mail
    const [next, ...others] = (await resolver.resolveTxt(domain)).filter(isSpf)
    if (next === undefined || others.length > 0) found.broken.push(domain)
    else await follow(resolver, termsOf(next), isIncluded || how === 'include:', found)
  }
}
