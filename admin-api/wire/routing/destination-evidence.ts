/** Evidence for the promotion of a destination on the wire. */
import * as z from 'zod'
import type { EvidenceSeen } from '#core/promotion/promotions.ts'
import type { DestinationEvidence } from '#core/routing/destination-evidence.ts'
import { encoder, encoderOf } from '../fields/codec.ts'
import { id } from '../fields/text.ts'
import { mailbox } from '../fields/mailbox.ts'
import { toWireTime, wireTime } from '../fields/time.ts'

export const evidenceInput = z.strictObject({
  inspect_test_id: id
    .optional()
    .meta({ description: 'A deliverability test of a mail that was sent by this provider; its score is kept too.' }),
  send_test: z
    .boolean()
    .default(false)
    .meta({
      description:
        'Sends a short mail by the destination, also while it is in sandbox mode, to the address of a new deliverability test. It counts as a send and as a test. ' +
        'Its score is in the evidence when it has come.',
    }),
  from: mailbox.optional().meta({ description: 'The From of that mail. Defaults to that of the destination.' }),
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
      .meta({ description: 'SPF, DKIM and DMARC of each sending domain as this provider needs them, looked up for it.' }),
    dry_run: z
      .object({ messages: z.int(), relayed: z.int(), suppressed: z.int(), refused: z.int(), elsewhere: z.int() })
      .meta({ description: 'What the last captured messages of the destination would get, were it live.' }),
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
          'The deliverability test that was sent by the destination. `elsewhere`: another destination carried it after a failover. ' +
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
  probe: ({ probe }) => ({ ok: probe.ok, steps: [...probe.steps] }),
  dry_run: ({ dryRun }) => dryRun,
  proof: ({ proof, proofStatus }) =>
    proof && proofStatus !== null
      ? { test_id: proof.testId, trace_id: proof.traceId, at: toWireTime(proof.at), status: proofStatus }
      : null,
})

export const keptEvidence = encoderOf(z.object({ evidence: shape.nullable() }), (record: EvidenceSeen | null) => ({
  evidence: record && evidence.encode(record),
}))
