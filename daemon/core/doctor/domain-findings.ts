/** Findings about the DNS records of a sending domain, from the results of a look-up. Pure. */
import type { ExpectedRecord } from '../domains/expected-records.ts'
import type { RecordCheck, RecordPurpose, SendingDomain } from '../domains/sending-domain.ts'
import { observed, type Observed } from '../findings/finding.ts'
import type { FindingKind } from '../findings/kinds.ts'

const kindOf = {
  dkim: 'domain.dkim',
  spf: 'domain.spf',
  dmarc: 'domain.dmarc',
  bounce_mx: 'domain.bounce_mx',
  bounce_spf: 'domain.bounce_spf',
} as const satisfies Record<RecordPurpose, FindingKind>

export interface DomainFacts {
  readonly domain: Pick<SendingDomain, 'domain' | 'keys' | 'status'>
  readonly expected: readonly ExpectedRecord[]
  readonly checks: readonly RecordCheck[]
}

export function domainFindings({ domain, expected, checks }: DomainFacts): Observed[] {
  const name = domain.domain
  if (checks.some(({ verdict }) => verdict === 'error')) return [observed('domain.lookup_failed', name, { domain: name })]
  if (!signs(domain)) return [observed('domain.pending', name, { domain: name })]
  return expected.flatMap((record): Observed[] => {
    const check = checks.find((one) => one.purpose === record.purpose && one.name === record.name)
    if (!check || check.verdict === 'ok' || isIdleKey(domain, record)) return []
    const isOurs = isOfService(record)
    const state = check.verdict === 'missing' ? 'missing' : 'wrong'
    // long keys are identified only by their names
    const shown = record.purpose === 'dkim' ? '' : record.expected
    const params = { domain: isOurs ? record.name : name, name: record.name, state, type: record.type, record: shown }
    return [observed(kindOf[record.purpose], isOurs || record.purpose === 'dkim' ? record.name : name, params)]
  })
}

/** Returns whether the record belongs to the bounce domain of the service. */
const isOfService = ({ purpose }: ExpectedRecord): boolean => purpose === 'bounce_mx' || purpose === 'bounce_spf'

/** Returns whether the finding is about the bounce domain, which all sending domains share. */
export const isAboutService = ({ kind }: Pick<Observed, 'kind'>): boolean => kind === 'domain.bounce_mx' || kind === 'domain.bounce_spf'

const signs = ({ keys }: Pick<SendingDomain, 'keys'>): boolean => keys.some(({ state }) => state === 'active')

/** Returns whether the record belongs to a key that does not sign now. */
function isIdleKey({ keys, domain }: Pick<SendingDomain, 'keys' | 'domain'>, { purpose, name }: ExpectedRecord): boolean {
  return purpose === 'dkim' && keys.some(({ selector, state }) => state !== 'active' && name === `${selector}._domainkey.${domain}`)
}
