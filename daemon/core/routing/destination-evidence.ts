/** Latest evidence for or against the promotion of a destination, stored with the destination. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const step = z.strictObject({
  ...{ step: z.string(), ok: z.boolean(), detail: z.string(), milliseconds: z.number() },
  ...{ code: z.string().optional(), reply: z.string().optional(), certificateNames: z.array(z.string()).optional() },
})

const domain = z.strictObject({
  id: z.string(),
  domain: z.string(),
  /** DNS records that mail of this domain needs for this provider, with their check results; null if not checked. */
  records: z.array(z.strictObject({ purpose: z.string(), required: z.boolean(), verdict: z.string().nullable() })),
})

const schema = z.strictObject({
  /** Destination id. */
  id: z.string(),
  projectId: z.string(),
  at: z.int(),
  /** Id of the credential that requested it. */
  by: z.string(),
  /** Mode of the destination at that time. */
  mode: z.enum(['sandbox', 'live']),
  probe: z.strictObject({ ok: z.boolean(), steps: z.array(step) }),
  domains: z.array(domain),
  /** Simulated outcomes of the destination's latest captured messages in live mode. */
  dryRun: z.strictObject({
    messages: z.int(),
    relayed: z.int(),
    suppressed: z.int(),
    refused: z.int(),
    elsewhere: z.int(),
  }),
  /** The selected deliverability test. */
  inspect: z.strictObject({ testId: z.string(), score: z.int(), grade: z.string(), at: z.int() }).nullable(),
  /** The deliverability test sent through the destination. Its score is looked up on reading. */
  proof: z.strictObject({ testId: z.string(), traceId: z.string(), at: z.int() }).optional(),
})

export type DestinationEvidence = Immutable<z.infer<typeof schema>>

export const destinationEvidence = defineRecord<DestinationEvidence>({
  name: 'destination_evidence',
  schema,
  // `Promotions.evidence` checks access through the destination
  projectOf: () => undefined,
})
