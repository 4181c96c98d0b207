/** Records that a sending domain should publish. Pure: computed from the settings, without DNS. */
import { dkimRecordName, dkimRecordText, retiredKeyMs } from './dkim-keys.ts'
import type { DkimKey, RecordPurpose, SendingDomain } from './sending-domain.ts'

/** Settings of the service that determine the records. */
export interface PublishingFacts {
  /** SPF mechanisms for outgoing mail; empty if only the customer's provider knows them. */
  readonly spfMechanisms: readonly string[]
  /** Domain that receives bounces (`POSTERN_INBOUND_DOMAIN`); null if the service receives no mail. */
  readonly bounceDomain: string | null
  /** Host that receives mail for `bounceDomain`. */
  readonly mxHost: string
}

/** An expected DNS record. */
export interface ExpectedRecord {
  readonly purpose: RecordPurpose
  readonly type: 'TXT' | 'MX'
  readonly name: string
  readonly expected: string
  /** Required for verification; other records are recommendations. */
  readonly required: boolean
  readonly hint: string
}

export function expectedRecords({ domain, keys }: Pick<SendingDomain, 'domain' | 'keys'>, facts: PublishingFacts): ExpectedRecord[] {
  const { spfMechanisms, bounceDomain, mxHost } = facts
  const records = [
    ...keys.map((key) => dkimRecord(key, domain)),
    spfRecord('spf', domain, spfMechanisms, 'Receivers check SPF for the domain of MAIL FROM; your provider may use its own domain.'),
    {
      purpose: 'dmarc' as const,
      type: 'TXT' as const,
      name: `_dmarc.${domain}`,
      expected: 'v=DMARC1; p=none',
      required: false,
      hint: 'Start with p=none, and raise it to quarantine or reject when all your mail is signed.',
    },
  ]
  if (bounceDomain === null) return records
  const mx: ExpectedRecord = {
    purpose: 'bounce_mx',
    type: 'MX',
    name: bounceDomain,
    expected: `10 ${mxHost}`,
    required: false,
    hint: 'Directs bounces to this service. One record for all sending domains.',
  }
  return [
    ...records,
    mx,
    spfRecord('bounce_spf', bounceDomain, spfMechanisms, 'Receivers check it for mail whose bounces return to this service.'),
  ]
}

function dkimRecord(key: DkimKey, domain: string): ExpectedRecord {
  const base = { purpose: 'dkim', type: 'TXT', name: dkimRecordName(key, domain), expected: dkimRecordText(key) } as const
  if (key.state === 'retired') {
    const until = new Date((key.retiredAt ?? key.createdAt) + retiredKeyMs).toISOString().slice(0, 10)
    return { ...base, required: false, hint: `Replaced; keep it published until ${until} for mail in transit, then delete it.` }
  }
  if (key.algorithm === 'ed25519')
    return { ...base, required: false, hint: 'A second, shorter signature for receivers that support RFC 8463.' }
  return { ...base, required: true, hint: 'If your DNS provider requires it, split the text into strings of at most 255 characters.' }
}

function spfRecord(purpose: 'spf' | 'bounce_spf', name: string, mechanisms: readonly string[], hint: string): ExpectedRecord {
  const advice = mechanisms.length > 0 ? '' : ' Insert the mechanism that your provider documents.'
  return {
    purpose,
    type: 'TXT',
    name,
    expected: `v=spf1 ${mechanisms.join(' ') || providerPlace} ~all`,
    required: false,
    hint: hint + advice,
  }
}

/** Placeholder for the mechanism of a provider that only the customer knows. */
const providerPlace = 'include:<your provider>'
