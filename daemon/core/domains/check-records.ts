/**
 * Looks up the records of a sending domain and checks each record. A failed look-up is reported as `error` and does not change the status.
 */
import { isSpf } from '#config/mail/spf-record.ts'
import { ResolveError, type RecordResolver } from '../outbound/resolver.ts'
import type { ExpectedRecord, PublishingFacts } from './expected-records.ts'
import { isDmarc, dkimFinding, dmarcFinding, mxFinding, spfFinding, type RecordFinding } from './record-findings.ts'
import type { RecordCheck } from './sending-domain.ts'
import { readSpf } from './spf-terms.ts'

/** Limits for stored answers, because anyone can publish records. */
const maxFound = 10
const maxFoundText = 1000
/** Maximum number of parent domains in the search for a DMARC record. RFC 7489 §6.6.3 asks only once more, but deeper names exist. */
const maxParents = 5

type Findings = RecordFinding & Pick<RecordCheck, 'found' | 'spf'>

/** Runs all look-ups concurrently; the resolver limits the time of each. */
export function checkRecords(resolver: RecordResolver, records: readonly ExpectedRecord[], facts: PublishingFacts): Promise<RecordCheck[]> {
  return Promise.all(
    records.map(async (record): Promise<RecordCheck> => {
      const { purpose, name } = record
      const { found, verdict, hint, spf } = await look(resolver, record, facts).catch(failure)
      const kept = found.slice(0, maxFound).map((text) => text.slice(0, maxFoundText))
      return { purpose, name, found: kept, verdict, hint, spf }
    }),
  )
}

async function look(resolver: RecordResolver, record: ExpectedRecord, facts: PublishingFacts): Promise<Findings> {
  const { purpose, name, expected } = record
  if (purpose === 'dmarc') return lookForDmarc(resolver, name.replace(/^_dmarc\./, ''))
  if (purpose === 'bounce_mx') {
    const found = await resolver.resolveMx(name)
    return { ...mxFinding(found, facts.mxHost), found: found.map(({ priority, exchange }) => `${priority} ${exchange}`) }
  }
  const texts = await resolver.resolveTxt(name)
  if (purpose === 'dkim') return { ...dkimFinding(texts, expected), found: texts }
  const records = texts.filter(isSpf)
  const spf = records.length === 1 ? await readSpf(resolver, records[0] ?? '') : undefined
  return { ...spfFinding(records, facts.spfMechanisms, expected, spf), found: records, spf }
}

async function lookForDmarc(resolver: RecordResolver, domain: string): Promise<Findings> {
  for (const at of withParents(domain)) {
    const found = (await resolver.resolveTxt(`_dmarc.${at}`)).filter(isDmarc)
    if (found.length > 0) return { ...dmarcFinding(found, at, domain), found }
  }
  return { ...dmarcFinding([], domain, domain), found: [] }
}

/** Returns the domain and its parents, down to two labels. */
export function withParents(domain: string): string[] {
  const labels = domain.split('.')
  const all = labels.slice(0, Math.max(labels.length - 1, 1)).map((_, index) => labels.slice(index).join('.'))
  return all.slice(0, maxParents + 1)
}

/** Returns whether the domain or a parent is among these. The keys of a parent sign mail of its subdomains. */
export const hasDomain = (domains: ReadonlyMap<string, unknown>, domain: string): boolean =>
  domains.has(domain) || (domains.size > 0 && withParents(domain).some((name) => domains.has(name)))

function failure(error: unknown): Findings {
  if (!(error instanceof ResolveError)) throw error
  const why = error.problem === 'timeout' ? 'The DNS lookup timed out.' : 'The DNS lookup returned an error.'
  return { found: [], verdict: 'error', hint: `${why} The status is unchanged; verify again later.` }
}
