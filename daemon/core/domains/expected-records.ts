/** The records that a sending domain should publish. Pure: from the settings, without a look at DNS. */
import { dkimRecordName, dkimRecordText, retiredKeyMs } from './dkim-keys.ts'
import type { DkimKey, RecordPurpose, SendingDomain } from './sending-domain.ts'

/** What the records depend on besides the domain. */
export interface PublishingFacts {
  /** SPF mechanisms under which its mail leaves; empty when only the customer's provider knows. */
  readonly spfMechanisms: readonly string[]
  /** Where bounces come back to (`POSTERN_INBOUND_DOMAIN`); null when nothing is received. */
  readonly bounceDomain: string | null
  /** The host that receives for it. */
  readonly mxHost: string
}

/** One record as it should stand in DNS. */
export interface ExpectedRecord {
  readonly purpose: RecordPurpose
  readonly type: 'TXT' | 'MX'
  readonly name: string
  readonly expected: string
  /** Without it the domain is not verified; the others are advice. */
  readonly required: boolean
  readonly hint: string
}

export function expectedRecords({ domain, keys }: Pick<SendingDomain, 'domain' | 'keys'>, facts: PublishingFacts): ExpectedRecord[] {
  const { spfMechanisms, bounceDomain, mxHost } = facts
  const records = [
    ...keys.map((key) => dkimRecord(key, domain)),
    spfRecord('spf', domain, spfMechanisms, 'Receivers check SPF for the domain of MAIL FROM; your provider may use one of its own.'),
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

/** Stands where only the customer's provider knows what belongs there. */
const providerPlace = 'include:<your provider>'
