/** Evidence for the promotion of a destination on the wire. */
import * as z from 'zod'
import type { DestinationEvidence } from '#core/routing/destination-evidence.ts'
import { encoder, encoderOf } from '../fields/codec.ts'
import { id } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'

export const evidenceInput = z.strictObject({
  inspect_test_id: id
    .optional()
    .meta({ description: 'A deliverability test of a mail that was sent by this provider; its score is kept too.' }),
})

const shape = z
  .object({
    destination_id: z.string(),
    at: wireTime,
    mode: z.enum(['sandbox', 'live']).meta({ description: 'The mode of the destination then.' }),
    probe: z.object({
      ok: z.boolean(),
      steps: z.array(z.object({ step: z.string(), ok: z.boolean(), detail: z.string(), milliseconds: z.number() })),
    }),
    domains: z
      .array(
        z.object({
          id: z.string(),
          domain: z.string(),
          records: z.array(z.object({ purpose: z.string(), required: z.boolean(), verdict: z.string().nullable() })),
        }),
      )
      .meta({ description: 'SPF, DKIM and DMARC of each sending domain as this provider needs them, by their last look-up.' }),
    dry_run: z
      .object({ messages: z.int(), relayed: z.int(), suppressed: z.int(), refused: z.int(), elsewhere: z.int() })
      .meta({ description: 'What the last captured messages of the destination would get, were it live.' }),
    inspect: z.object({ test_id: z.string(), score: z.int(), grade: z.string(), at: wireTime }).nullable(),
  })
  .meta({ id: 'DestinationEvidence' })

const inspected = encoder(z.object({ test_id: z.string(), score: z.int(), grade: z.string(), at: wireTime })).from<
  NonNullable<DestinationEvidence['inspect']>
>()

export const evidence = encoder(shape).from<DestinationEvidence>({
  destination_id: (record) => record.id,
  inspect: ({ inspect }) => inspect && inspected.encode(inspect),
  domains: ({ domains }) => domains.map(({ records, ...domain }) => ({ ...domain, records: [...records] })),
  probe: ({ probe }) => ({ ok: probe.ok, steps: [...probe.steps] }),
  dry_run: ({ dryRun }) => dryRun,
})

export const keptEvidence = encoderOf(z.object({ evidence: shape.nullable() }), (record: DestinationEvidence | null) => ({
  evidence: record && evidence.encode(record),
}))
