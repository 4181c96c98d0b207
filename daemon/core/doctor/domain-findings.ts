/** Findings about the DNS records of a sending domain, from the results of a look-up. Pure. */
import { dkimRecordName } from '../domains/dkim-keys.ts'
import type { ExpectedRecord } from '../domains/expected-records.ts'
import { hasLostKey, type DkimKey, type RecordCheck, type RecordPurpose, type SendingDomain } from '../domains/sending-domain.ts'
import { observed, type Observed } from '../findings/finding.ts'
import type { FindingKind } from '../findings/kinds.ts'

const kindOf = {
  spf: 'domain.spf',
  dmarc: 'domain.dmarc',
  bounce_mx: 'domain.bounce_mx',
  bounce_spf: 'domain.bounce_spf',
} as const satisfies Record<Exclude<RecordPurpose, 'dkim'>, FindingKind>

export interface DomainFacts {
  readonly domain: Pick<SendingDomain, 'domain' | 'keys' | 'status' | 'verifiedAt'>
  readonly expected: readonly ExpectedRecord[]
  readonly checks: readonly RecordCheck[]
}

export function domainFindings(facts: DomainFacts): Observed[] {
  const { domain, expected, checks } = facts
  const name = domain.domain
  if (checks.some(({ verdict }) => verdict === 'error')) return [observed('domain.lookup_failed', name, { domain: name })]
  if (!signs(domain) && !hasLostKey(domain)) return [observed('domain.pending', name, { domain: name })]
  const others = expected.flatMap((record): Observed[] => {
    const check = checks.find((one) => one.purpose === record.purpose && one.name === record.name)
    if (record.purpose === 'dkim' || !check || check.verdict === 'ok') return []
    const subject = isOfService(record) ? record.name : name
    const state = check.verdict === 'missing' ? 'missing' : 'wrong'
    const params = { domain: subject, name: record.name, state, type: record.type, record: record.expected }
    return [observed(kindOf[record.purpose], subject, params)]
  })
  return [...dkimFinding(facts), ...others]
}

/** One finding for all keys, so that it remains the same when a lost key stops signing and when a person rotates the keys. */
function dkimFinding({ domain, checks }: DomainFacts): Observed[] {
  const name = domain.domain
  const signing = domain.keys.filter(({ state }) => state === 'active')
  for (const key of [...lostKeys(domain), ...signing]) {
    const recordName = dkimRecordName(key, name)
    const verdict = checks.find((one) => one.purpose === 'dkim' && one.name === recordName)?.verdict ?? 'missing'
    if (verdict === 'ok' && key.state === 'active') continue
    // published again, but not yet checked by `verify` or by the automatic check
    const state = verdict === 'ok' ? 'unverified' : verdict === 'missing' ? 'missing' : 'wrong'
    const signed = signing.length === 0 ? 'no' : key.state === 'active' ? 'yes' : 'partly'
    return [observed('domain.dkim', name, { domain: name, name: recordName, state, signed })]
  }
  return []
}

/** Returns the RSA key that determined the status, or its replacement; none while the domain is verified, and before. */
function lostKeys(domain: DomainFacts['domain']): readonly DkimKey[] {
  if (!hasLostKey(domain)) return []
  return domain.keys.filter(({ algorithm, state }) => algorithm === 'rsa' && state === 'pending').slice(-1) // newer keys are first
}

/** Returns whether the record belongs to the bounce domain of the service. */
const isOfService = ({ purpose }: ExpectedRecord): boolean => purpose === 'bounce_mx' || purpose === 'bounce_spf'

/** Returns whether the finding is about the bounce domain, which all sending domains share. */
export const isAboutService = ({ kind }: Pick<Observed, 'kind'>): boolean => kind === 'domain.bounce_mx' || kind === 'domain.bounce_spf'

const signs = ({ keys }: Pick<SendingDomain, 'keys'>): boolean => keys.some(({ state }) => state === 'active')
