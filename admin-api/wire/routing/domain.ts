/** Sending domains on the wire, with the records to publish. */
import * as z from 'zod'
import { domainStatuses, keyAlgorithms, recordPurposes, verdicts, type DkimKey, type SendingDomain } from '#core/domains/sending-domain.ts'
import type { HasHealth } from '#core/health/resource-health.ts'
import type { DomainRecord, ShownDomain } from '#core/domains/sending-domains.ts'
import { encoder } from '../fields/codec.ts'
import { healthCode, healthField } from '../insights/health.ts'
import { filledLine } from '../fields/text.ts'
import { orNull, wireTime } from '../fields/time.ts'

const recordShape = z.object({
  purpose: z
    .enum(recordPurposes)
    .meta({ description: 'Bounce records are present if the service receives bounces, and are identical for all domains.' }),
  type: z.enum(['TXT', 'MX']),
  name: z.string(),
  expected: z.string().meta({ description: 'The value to publish.' }),
  required: z.boolean().meta({ description: 'Whether verification requires this record; other records are recommended.' }),
  found: z.array(z.string()).nullable().meta({ description: 'The values that the latest lookup found; null until the first lookup.' }),
  verdict: z.enum(verdicts).nullable().meta({ description: 'error: the lookup failed, so the status is unknown.' }),
  hint: z.string(),
  spf_lookups: z
    .int()
    .nullable()
    .meta({ description: 'For an SPF record: the number of DNS lookups that receivers need. They ignore a record with more than 10.' }),
})

const keyShape = z.object({
  selector: z.string(),
  algorithm: z.enum(keyAlgorithms),
  state: z.enum(['pending', 'active', 'retired']),
  created_at: wireTime,
  retired_at: wireTime.nullable(),
})

const domainShape = z
  .object({
    id: z.string(),
    domain: z.string(),
    status: z.enum(domainStatuses).meta({ description: 'verified: mail from this domain and its subdomains is signed.' }),
    checked_at: wireTime.nullable(),
    dkim_keys: z.array(keyShape),
    records: z.array(recordShape),
    ...healthField,
    created_at: wireTime,
    updated_at: wireTime,
  })
  .meta({ id: 'SendingDomain' })

export const newDomain = z.strictObject({
  domain: filledLine(254),
  ed25519: z.boolean().optional().meta({ description: 'Adds an Ed25519 key to the RSA key. Defaults to false.' }),
})

const dkimKey = encoder(keyShape).from<DkimKey>()

export const domainRecord = encoder(recordShape).from<DomainRecord>({
  found: ({ check }) => check?.found ?? null,
  verdict: ({ check }) => check?.verdict ?? null,
  hint: ({ check, hint }) => check?.hint ?? hint,
  spf_lookups: ({ check }) => check?.spf?.lookups ?? null,
})

export const domain = encoder(domainShape)
  .from<SendingDomain & Pick<ShownDomain, 'records'> & HasHealth>({
    ...healthCode,
    checked_at: ({ check }) => orNull(check?.at),
    dkim_keys: ({ keys }) => keys.map(dkimKey.encode),
    records: ({ records }) => records.map(domainRecord.encode),
  })
  .via(({ domain: one, records, health }: ShownDomain & HasHealth) => ({ ...one, records, health }))
