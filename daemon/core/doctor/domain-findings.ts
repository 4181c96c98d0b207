/** Findings about the DNS records of a sending domain, from the results of a look-up. Pure. */
import type { ExpectedRecord } from '../domains/expected-records.ts'
import type { RecordCheck, RecordPurpose, SendingDomain } from '../domains/sending-domain.ts'
import { finding, type Finding, type FindingId } from './finding.ts'

const idOf = {
  dkim: 'domain.dkim',
  spf: 'domain.spf',
  dmarc: 'domain.dmarc',
  bounce_mx: 'domain.bounce_mx',
  bounce_spf: 'domain.bounce_spf',
} as const satisfies Record<RecordPurpose, FindingId>

const wordOf: Readonly<Record<RecordPurpose, string>> = {
  dkim: 'DKIM record',
  spf: 'SPF record',
  dmarc: 'DMARC record',
  bounce_mx: 'MX record for bounces',
  bounce_spf: 'SPF record for bounces',
}

/** A domain with the name of its organization. */
export interface DomainFacts {
  readonly domain: Pick<SendingDomain, 'domain' | 'keys' | 'status'>
  readonly organizationName: string
  readonly expected: readonly ExpectedRecord[]
  readonly checks: readonly RecordCheck[]
}

export function domainFindings({ domain, organizationName, expected, checks }: DomainFacts): Finding[] {
  const whose = `${domain.domain} (${organizationName})`
  if (checks.some(({ verdict }) => verdict === 'error'))
    return [
      finding(
        'domain.lookup_failed',
        domain.domain,
        `The records of ${whose} could not be looked up.`,
        'Check that the name servers of the domain answer. The lookup is repeated within the hour.',
      ),
    ]
  if (!signs(domain)) return [pending(domain.domain, whose)]
  return expected.flatMap((record): Finding[] => {
    const check = checks.find(({ purpose, name }) => purpose === record.purpose && name === record.name)
    if (!check || check.verdict === 'ok' || isIdleKey(domain, record)) return []
    const isOurs = record.purpose === 'bounce_mx' || record.purpose === 'bounce_spf'
    const word = wordOf[record.purpose]
    const state = check.verdict === 'missing' ? 'is missing' : 'is wrong'
    // long keys are identified only by their names
    const shown = record.purpose === 'dkim' ? 'GET /v1/domains shows its text' : `${record.type} ${record.expected}`
    return [
      finding(
        idOf[record.purpose],
        record.purpose === 'dkim' || isOurs ? record.name : domain.domain,
        isOurs ? `The ${word} at ${record.name} ${state}.` : `${whose}: the ${word} at ${record.name} ${state}.`,
        `${check.hint} Expected at ${record.name}: ${shown}.`,
      ),
    ]
  })
}

const signs = ({ keys }: Pick<SendingDomain, 'keys'>): boolean => keys.some(({ state }) => state === 'active')

const pending = (name: string, whose: string): Finding =>
  finding(
    'domain.pending',
    name,
    `${whose} is not verified, so its mail is not signed.`,
    'Publish its DKIM record and verify the domain, or delete the domain.',
  )

/** Returns whether the record belongs to a key that does not sign now. */
function isIdleKey({ keys, domain }: Pick<SendingDomain, 'keys' | 'domain'>, { purpose, name }: ExpectedRecord): boolean {
  return purpose === 'dkim' && keys.some(({ selector, state }) => state !== 'active' && name === `${selector}._domainkey.${domain}`)
}
