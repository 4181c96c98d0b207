/** Sending domains: the domains that an organization signs for, with their DKIM keys and what DNS last said of them. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { SpfReading } from './spf-terms.ts'

export const keyAlgorithms = ['rsa', 'ed25519'] as const
export type KeyAlgorithm = (typeof keyAlgorithms)[number]

/** One DKIM key pair (RFC 6376 §3.1). */
export interface DkimKey {
  readonly selector: string
  readonly algorithm: KeyAlgorithm
  /** The `p=` value of its record (RFC 6376 §3.6.1), base64. */
  readonly publicKey: string
  /** PKCS #8 in PEM, sealed under `dkimKeyContext`; null once it signs no more. */
  readonly sealedPrivateKey: string | null
  /** `pending`: not seen in DNS yet; `active`: signs; `retired`: replaced, and still published for mail under way. */
  readonly state: 'pending' | 'active' | 'retired'
  readonly createdAt: number
  readonly retiredAt: number | null
}

export const verdicts = ['ok', 'missing', 'mismatch', 'error'] as const
/** What DNS has in place of a record: the right thing, nothing, something else, or no answer. */
export type RecordVerdict = (typeof verdicts)[number]

/** What one record is for. */
export const recordPurposes = ['dkim', 'spf', 'dmarc', 'bounce_mx', 'bounce_spf'] as const
export type RecordPurpose = (typeof recordPurposes)[number]

/** What a look-up of one record found. */
export interface RecordCheck {
  readonly purpose: RecordPurpose
  readonly name: string
  readonly found: readonly string[]
  readonly verdict: RecordVerdict
  /** What to do, or what it means. */
  readonly hint: string
  /** What an SPF record comes to with those that it includes. */
  readonly spf?: SpfReading | undefined
}

export const domainStatuses = ['pending', 'verified', 'failed'] as const
/** `verified`: its mail is signed; `failed`: DNS holds something else, or holds the key no more; `pending`: not published yet. */
export type DomainStatus = (typeof domainStatuses)[number]

const schema = z.strictObject({
  id: z.string(),
  /** Lower-case A-labels. */
  domain: z.string(),
  status: z.enum(domainStatuses),
  keys: z.array(
    z.strictObject({
      selector: z.string(),
      algorithm: z.enum(keyAlgorithms),
      publicKey: z.string(),
      sealedPrivateKey: z.string().nullable(),
      state: z.enum(['pending', 'active', 'retired']),
      createdAt: z.int(),
      retiredAt: z.int().nullable(),
    }),
  ),
  /** The last look-up; null before the first. */
  check: z
    .strictObject({
      at: z.int(),
      records: z.array(
        z.strictObject({
          purpose: z.enum(recordPurposes),
          name: z.string(),
          found: z.array(z.string()),
          verdict: z.enum(verdicts),
          hint: z.string(),
          spf: z.strictObject({ terms: z.array(z.string()), lookups: z.int(), broken: z.array(z.string()) }).optional(),
        }),
      ),
    })
    .nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type SendingDomain = Immutable<z.infer<typeof schema>>

export const sendingDomains = defineRecord<SendingDomain>({
  name: 'sending_domain',
  schema,
  isSetting: true,
  isTracked: true,
  unique: { domain: ({ domain }) => [[domain]] },
})

/** The place a private key is sealed for. */
export const dkimKeyContext = (domainId: string, selector: string): string => `sending_domain/${domainId}/${selector}`
