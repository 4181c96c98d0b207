/** Sending domains on the wire, with the records to publish. */
import * as z from 'zod'
import { domainStatuses, keyAlgorithms, recordPurposes, verdicts } from '#core/domains/sending-domain.ts'
import type { DomainRecord, ShownDomain } from '#core/domains/sending-domains.ts'
import { filledLine } from './text.ts'
import { toWireTime, wireTime } from './time.ts'

const recordShape = z.object({
  purpose: z
    .enum(recordPurposes)
    .meta({ description: 'The bounce records are there when the service receives bounces, and are the same for every domain.' }),
  type: z.enum(['TXT', 'MX']),
  name: z.string(),
  expected: z.string().meta({ description: 'What to publish.' }),
  required: z.boolean().meta({ description: 'Without it the domain is not verified; the others are advice.' }),
  found: z.array(z.string()).nullable().meta({ description: 'What the last look-up found; null before the first.' }),
  verdict: z.enum(verdicts).nullable().meta({ description: 'error: the look-up failed, and nothing was decided.' }),
  hint: z.string(),
})

export const domainShape = z
  .object({
    id: z.string(),
    domain: z.string(),
    status: z.enum(domainStatuses).meta({ description: 'verified: mail from this domain and its subdomains is signed.' }),
    checked_at: wireTime.nullable(),
    dkim_keys: z.array(
      z.object({
        selector: z.string(),
        algorithm: z.enum(keyAlgorithms),
        state: z.enum(['pending', 'active', 'retired']),
        created_at: wireTime,
        retired_at: wireTime.nullable(),
      }),
    ),
    records: z.array(recordShape),
    created_at: wireTime,
    updated_at: wireTime,
  })
  .meta({ id: 'SendingDomain' })

export const domainRecordsShape = z.object({ data: z.array(recordShape) })

export const newDomainBody = z.strictObject({
  domain: filledLine(254),
  ed25519: z.boolean().optional().meta({ description: 'A second key, of type Ed25519, beside the RSA key; false unless told.' }),
})

export const toWireDomain = ({ domain, records }: ShownDomain): z.input<typeof domainShape> => ({
  id: domain.id,
  domain: domain.domain,
  status: domain.status,
  checked_at: domain.check && toWireTime(domain.check.at),
  dkim_keys: domain.keys.map(({ selector, algorithm, state, createdAt, retiredAt }) => ({
    ...{ selector, algorithm, state },
    created_at: toWireTime(createdAt),
    retired_at: retiredAt === null ? null : toWireTime(retiredAt),
  })),
  records: records.map(toWireRecord),
  created_at: toWireTime(domain.createdAt),
  updated_at: toWireTime(domain.updatedAt),
})

export const toWireRecord = ({ check, purpose, type, name, expected, required, hint }: DomainRecord): z.input<typeof recordShape> => ({
  ...{ purpose, type, name, expected, required },
  found: check ? [...check.found] : null,
  verdict: check?.verdict ?? null,
  hint: check?.hint ?? hint,
})
