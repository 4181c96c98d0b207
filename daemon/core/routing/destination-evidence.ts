/** What spoke for or against letting a destination deliver, as it was found last; kept with the destination. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const step = z.strictObject({ step: z.string(), ok: z.boolean(), detail: z.string(), milliseconds: z.number() })

const domain = z.strictObject({
  id: z.string(),
  domain: z.string(),
  /** The records that a mail of this domain needs for this provider, and what was found of each; null was not looked up. */
  records: z.array(z.strictObject({ purpose: z.string(), required: z.boolean(), verdict: z.string().nullable() })),
})

const schema = z.strictObject({
  /** That of the destination. */
  id: z.string(),
  projectId: z.string(),
  at: z.int(),
  /** Id of the grant that asked for it. */
  by: z.string(),
  /** The mode of the destination then. */
  mode: z.enum(['sandbox', 'live']),
  probe: z.strictObject({ ok: z.boolean(), steps: z.array(step) }),
  domains: z.array(domain),
  /** What the last captured messages of the destination would get, were it live. */
  dryRun: z.strictObject({
    messages: z.int(),
    relayed: z.int(),
    suppressed: z.int(),
    refused: z.int(),
    elsewhere: z.int(),
  }),
  /** The deliverability test that was named. */
  inspect: z.strictObject({ testId: z.string(), score: z.int(), grade: z.string(), at: z.int() }).nullable(),
  /** The deliverability test that was sent by the destination; its score is looked up when the evidence is read. */
  proof: z.strictObject({ testId: z.string(), traceId: z.string(), at: z.int() }).optional(),
})

export type DestinationEvidence = Immutable<z.infer<typeof schema>>

export const destinationEvidence = defineRecord<DestinationEvidence>({
  name: 'destination_evidence',
  schema,
  // it is read by who reaches the destination
  projectOf: () => undefined,
})
