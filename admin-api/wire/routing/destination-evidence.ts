/** Evidence for the promotion of a destination on the wire. */
import * as z from 'zod'
import type { EvidenceSeen } from '#core/promotion/promotions.ts'
import type { DestinationEvidence } from '#core/routing/destination-evidence.ts'
import { encoder, encoderOf } from '../fields/codec.ts'
import { id } from '../fields/text.ts'
import { mailbox } from '../fields/mailbox.ts'
import { probeStep, probeStepShape } from './destination-health.ts'
import { toWireTime, wireTime } from '../fields/time.ts'

export const evidenceInput = z.strictObject({
  inspect_test_id: id
    .optional()
    .meta({ description: 'A deliverability test of a mail sent by this provider; its score is stored with the evidence.' }),
  send_test: z
    .boolean()
    .default(false)
    .meta({
      description:
        'Sends a short mail through the destination, even in sandbox mode, to the address of a new deliverability test. It ' +
        'counts as a send and as a test. The evidence contains its score as soon as the test is complete.',
    }),
  from: mailbox.optional().meta({ description: 'The From of the test mail. Defaults to the From of the destination.' }),
})

const shape = z
  .object({
    destination_id: z.string(),
    at: wireTime,
    mode: z.enum(['sandbox', 'live']).meta({ description: 'The mode of the destination at that time.' }),
    probe: z.object({
      ok: z.boolean(),
      steps: z.array(probeStepShape),
    }),
    domains: z
      .array(
        z.object({
          id: z.string(),
          domain: z.string(),
          records: z.array(z.object({ purpose: z.string(), required: z.boolean(), verdict: z.string().nullable() })),
        }),
      )
      .meta({
        description:
          'SPF, DKIM and DMARC records of each sending domain as this provider requires them, looked up in DNS for this evidence.',
      }),
    dry_run: z
      .object({ messages: z.int(), relayed: z.int(), suppressed: z.int(), refused: z.int(), elsewhere: z.int() })
      .meta({ description: 'The outcomes of the latest captured messages of the destination if it were live.' }),
    inspect: z.object({ test_id: z.string(), score: z.int(), grade: z.string(), at: wireTime }).nullable(),
    proof: z
      .object({
        test_id: z.string(),
        trace_id: z.string(),
        at: wireTime,
        status: z.enum(['waiting', 'scored', 'failed', 'elsewhere', 'expired']),
      })
      .nullable()
      .meta({
        description:
          'The deliverability test sent through the destination. `elsewhere`: another destination delivered it after a failover. ' +
          '`failed`: the mail was not delivered, or could not be scored.',
      }),
  })
  .meta({ id: 'DestinationEvidence' })

const inspected = encoder(z.object({ test_id: z.string(), score: z.int(), grade: z.string(), at: wireTime })).from<
  NonNullable<DestinationEvidence['inspect']>
>()

export const evidence = encoder(shape).from<EvidenceSeen>({
  destination_id: (record) => record.id,
  inspect: ({ inspect }) => inspect && inspected.encode(inspect),
  domains: ({ domains }) => domains.map(({ records, ...domain }) => ({ ...domain, records: [...records] })),
  probe: ({ probe }) => ({ ok: probe.ok, steps: probe.steps.map(probeStep.encode) }),
  dry_run: ({ dryRun }) => dryRun,
  proof: ({ proof, proofStatus }) =>
    proof && proofStatus !== null
      ? { test_id: proof.testId, trace_id: proof.traceId, at: toWireTime(proof.at), status: proofStatus }
      : null,
})

export const keptEvidence = encoderOf(z.object({ evidence: shape.nullable() }), (record: EvidenceSeen | null) => ({
  evidence: record && evidence.encode(record),
}))
