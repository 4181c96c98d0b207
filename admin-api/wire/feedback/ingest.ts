/** Responses to posted reports. */
import * as z from 'zod'
import { ignoredReasons } from '#core/ingest-sources/ignored-lines.ts'
import { wireTime } from '../fields/time.ts'
import { id } from '../fields/text.ts'

export const sourceQuery = z.strictObject({
  source_id: id.optional().meta({ description: 'Id of the ingest source. The header X-Service-Ingest-Source can replace it.' }),
})

const counts = {
  accepted: z.int().meta({ description: 'New events.' }),
  unmatched: z
    .int()
    .meta({ description: 'Reports without a matching message. If the message may still arrive, matching is retried for 15 minutes.' }),
  duplicates: z.int(),
  ignored: z.int().meta({ description: 'Entries that do not report the outcome of a message.' }),
}

export const ignoredReason = z.enum(ignoredReasons).meta({
  description: 'handed_on: delivered within the host, discarded, or a probe.',
})

/** `line` counts from 1, `index` from 0. */
export const eventCounts = z
  .object({
    ...counts,
    rejected: z.array(z.object({ line: z.int().optional(), index: z.int().optional(), reason: z.string() })),
    ignored_lines: z
      .array(z.object({ reason: ignoredReason, lines: z.int() }))
      .optional()
      .meta({ description: 'The log lines among the ignored entries, by reason.' }),
    rejected_more: z.int().optional().meta({ description: 'Number of further rejected entries that are not listed.' }),
  })
  .meta({ id: 'IngestCounts' })

const result = z.enum(['recorded', 'duplicate', 'unmatched', 'ignored'])

export const reportAnswer = z
  .object({
    kind: z.enum(['feedback', 'dsn', 'mdn', 'auto_reply', 'none']),
    problem: z.string().optional().meta({ description: 'The parse error; present if the mail could not be parsed.' }),
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
        verified: z.boolean().nullable().meta({
          description: 'False: the report appears in the trace but has no other effect, because any sender could have written it.',
        }),
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
        trace_id: z.string().nullable().meta({ description: 'Null until a message matches.' }),
        reason: z.string().optional().meta({ description: 'Present when the event is invalid.' }),
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
    clock_skew_seconds: z
      .number()
      .nullable()
      .meta({ description: 'How many seconds the clock of the agent is ahead; null if the agent does not report its time.' }),
    multi_tenant: z.boolean(),
    postoffices: z.array(z.string()).meta({ description: 'Postoffices with a mapping.' }),
  })
  .meta({ id: 'MailEnableHealthcheck' })

export const activityAnswer = z
  .object({
    accepted_lines: z.int(),
    deliveries: z.int(),
    duplicates: z.int(),
    metrics: z.int().meta({ description: 'Number of refusals counted; they are not events.' }),
    dropped: z.int().meta({ description: 'Deliveries of postoffices without a mapping.' }),
    withheld: z.int().meta({ description: 'Recipients accepted by the server, which then refused the whole message.' }),
    rejected: z.array(z.object({ index: z.int(), reason: z.string() })),
    cursor: z.int().nullable().meta({ description: 'The cursor for the agent to store.' }),
  })
  .meta({ id: 'MailEnableActivity' })
