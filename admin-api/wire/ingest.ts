/** Answers to whoever posts reports. */
import * as z from 'zod'
import { wireTime } from './time.ts'
import { id } from './text.ts'

export const sourceQuery = z.strictObject({
  source_id: id.optional().meta({ description: 'The ingest source; in its place goes the header X-Service-Ingest-Source.' }),
})

const counts = {
  accepted: z.int().meta({ description: 'New events.' }),
  unmatched: z.int().meta({ description: 'Of these, events that fit no message now; where one may follow they are tried for 15 minutes.' }),
  duplicates: z.int(),
  ignored: z.int().meta({ description: 'What is not about the fate of mail.' }),
}

/** `line` counts from 1, `index` from 0. */
export const eventCounts = z
  .object({
    ...counts,
    rejected: z.array(z.object({ line: z.int().optional(), index: z.int().optional(), reason: z.string() })),
    rejected_more: z.int().optional().meta({ description: 'There were so many more than are told.' }),
  })
  .meta({ id: 'IngestCounts' })

const result = z.enum(['recorded', 'duplicate', 'unmatched', 'ignored'])

export const reportAnswer = z
  .object({
    kind: z.enum(['feedback', 'dsn', 'mdn', 'auto_reply', 'none']),
    problem: z.string().optional().meta({ description: 'There when the mail could not be read: why.' }),
    events: z.array(
      z.object({
        event_id: z.string(),
        type: z.enum(['bounced', 'deferred', 'delivered', 'complained', 'bounce_unparsed', 'ignored']),
        recipient: z.string().nullable(),
        original_recipient: z.string().nullable(),
        status: z.string().nullable(),
        action: z.string().nullable(),
        smtp_code: z.int().nullable(),
        diagnostic: z.string().nullable(),
        remote_mta: z.string().nullable(),
        bounce: z.enum(['hard', 'soft', 'block']).nullable(),
        feedback_type: z.string().nullable(),
        trace_id: z.string().nullable(),
        verified: z
          .boolean()
          .nullable()
          .meta({ description: 'False: it is shown in the trace and changes nothing, as anybody could have written it.' }),
        suppressed: z.boolean(),
        result,
      }),
    ),
  })
  .meta({ id: 'IngestedReport' })

export const bounceEnvelopeAnswer = z
  .object({
    accepted: z.int(),
    duplicates: z.int(),
    dropped: z.int(),
    invalid: z.int(),
    events: z.array(
      z.object({
        event_id: z.string().nullable(),
        result: z.enum(['recorded', 'duplicate', 'dropped_unmapped_postoffice', 'invalid']),
        project_id: z.string().nullable(),
        trace_id: z.string().nullable().meta({ description: 'Null while it fits no message.' }),
        reason: z.string().optional().meta({ description: 'There when it is invalid.' }),
      }),
    ),
  })
  .meta({ id: 'MailEnableBounces' })

export const healthcheckAnswer = z
  .object({
    ok: z.literal(true),
    provider: z.literal('mailenable'),
    bounce_source_config_id: z.string(),
    nonce: z.string().nullable(),
    server_time: wireTime,
    clock_skew_seconds: z.number().nullable().meta({ description: 'By how much the agent’s clock is ahead, where it tells its time.' }),
    multi_tenant: z.boolean(),
    postoffices: z.array(z.string()).meta({ description: 'Those with a mapping.' }),
  })
  .meta({ id: 'MailEnableHealthcheck' })

export const activityAnswer = z
  .object({
    accepted_lines: z.int(),
    deliveries: z.int(),
    duplicates: z.int(),
    metrics: z.int().meta({ description: 'Refusals that were counted; they make no events.' }),
    dropped: z.int().meta({ description: 'Deliveries of postoffices without a mapping.' }),
    withheld: z.int().meta({ description: 'Recipients that were taken before the message was refused as a whole.' }),
    rejected: z.array(z.object({ index: z.int(), reason: z.string() })),
    cursor: z.int().nullable().meta({ description: 'To be kept by the agent.' }),
  })
  .meta({ id: 'MailEnableActivity' })
