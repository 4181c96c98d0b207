/** Record of a sending domain: a domain of an organization with its DKIM keys and its last DNS check. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { SpfReading } from './spf-terms.ts'

export const keyAlgorithms = ['rsa', 'ed25519'] as const
export type KeyAlgorithm = (typeof keyAlgorithms)[number]

/** A DKIM key pair (RFC 6376 §3.1). */
export interface DkimKey {
  readonly selector: string
  readonly algorithm: KeyAlgorithm
  /** The `p=` value of its record (RFC 6376 §3.6.1), in base64. */
  readonly publicKey: string
  /** PKCS #8 in PEM, sealed under `dkimKeyContext`; null for retired keys. */
  readonly sealedPrivateKey: string | null
  /** `pending`: not yet found in DNS; `active`: signs; `retired`: replaced, but still published for mail in transit. */
  readonly state: 'pending' | 'active' | 'retired'
  readonly createdAt: number
  readonly retiredAt: number | null
}

export const verdicts = ['ok', 'missing', 'mismatch', 'error'] as const
/** Result of a look-up: the expected record, no record, another record, or no answer. */
export type RecordVerdict = (typeof verdicts)[number]

/** Purposes of records. */
export const recordPurposes = ['dkim', 'spf', 'dmarc', 'bounce_mx', 'bounce_spf'] as const
export type RecordPurpose = (typeof recordPurposes)[number]

/** Result of the look-up of one record. */
export interface RecordCheck {
  readonly purpose: RecordPurpose
  readonly name: string
  readonly found: readonly string[]
  readonly verdict: RecordVerdict
  /** Advice or explanation. */
  readonly hint: string
  /** Terms of the SPF record and of the records that it includes. */
  readonly spf?: SpfReading | undefined
}

export const domainStatuses = ['pending', 'verified', 'failed'] as const
/** `verified`: mail is signed; `failed`: DNS has another record, or the key was removed; `pending`: not yet published. */
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
  /** The last check; null until the first check. */
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
  /** Time of the first successful check; absent for a domain that was never verified. */
  verifiedAt: z.int().optional(),
})

export type SendingDomain = Immutable<z.infer<typeof schema>>

export const sendingDomains = defineRecord<SendingDomain>({
  name: 'sending_domain',
  schema,
  isSetting: true,
  isTracked: true,
  unique: { domain: ({ domain }) => [[domain]] },
})

/** Returns whether the key of a verified domain was removed from DNS or replaced there. */
export const hasLostKey = ({ status, verifiedAt }: Pick<SendingDomain, 'status' | 'verifiedAt'>): boolean =>
  verifiedAt !== undefined && status !== 'verified'

/** Returns the context for sealing a private key. */
export const dkimKeyContext = (domainId: string, selector: string): string => `sending_domain/${domainId}/${selector}`
