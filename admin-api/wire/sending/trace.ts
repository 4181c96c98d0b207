/** Traces on the wire: the full trace for its owner, and the redacted trace for holders of a share link. Spec "Trace". */
import * as z from 'zod'
import { recipientVerdicts } from '#core/trace/attempt-record.ts'
import type { TraceDetails } from '#core/trace/timeline/trace-reader.ts'
import type { TraceCounts } from '#core/trace/trace-search.ts'
import { reportTypes } from '#core/trace/trace-report.ts'
import type { SharedTrace } from '#core/trace/timeline/redact.ts'
import { traceStatuses } from '#core/trace/states.ts'
import { timelineEntries } from '#core/trace/timeline/whole-timeline.ts'
import type { TimelineEntry } from '#core/trace/timeline/send-timeline.ts'
import { countsOf, summaryOf, worstBounce } from '#core/trace/timeline/summary.ts'
import { dueAt } from '#core/trace/acts/queue-acts.ts'
import { bounceOf, causeOf, doors, outcomeCauses, type Trace, type TraceRecipient } from '#core/trace/trace.ts'
import { untrackedReason } from '#core/trace/trace-tracking.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { encoder, encoderOf } from '../fields/codec.ts'
import { id } from '../fields/text.ts'
import { orNull, wireTime } from '../fields/time.ts'

/** A UUID, in any case (RFC 9562 §4). */
export const traceId = id.toLowerCase()

export const outcomes = ['relayed', 'captured.anonymous_project', 'captured.sandbox_destination', 'captured.no_route'] as const
/** Outcomes of traces. `refused` is the outcome of an invalid send. */
export const traceOutcomes = [...outcomes, 'refused'] as const

/** hard: the address is bad. soft: it may work later. block: the sender or the message was refused. */
export const bounceClasses = ['hard', 'soft', 'block'] as const

const status = z.enum(traceStatuses)
const bounce = z.enum(bounceClasses).nullable()
const reply = z.object({ code: z.int(), enhanced: z.string().nullable(), text: z.string() })

const suppression = z
  .object({ id: z.string(), source: z.string(), reason: z.string().nullable() })
  .meta({ description: 'The suppression that applied to this recipient, in its state at that time.' })

const report = z
  .object({
    type: z.enum(reportTypes),
    reason: z.string(),
    bounce: z
      .enum(['hard', 'soft', 'block'])
      .nullable()
      .meta({ description: 'hard: the address is bad. soft: it may work later. block: the sender or the message was refused.' }),
    at: wireTime,
  })
  .meta({
    description:
      'The report that determined the status of this recipient. With the status `failed`: the server refused the recipient ' +
      'permanently, or deferred it until delivery was abandoned, which counts as a bounce.',
  })

const recipientShape = z.object({
  address: z.string(),
  status,
  bcc: z.boolean().meta({ description: 'A blind copy: no address field of the message lists the recipient.' }),
  reply: reply.nullable(),
  return_path: z
    .string()
    .nullable()
    .meta({
      description:
        'With VERP, the reverse-path of this recipient: a separate one, or the plain one if the provider refused the separate ' +
        'one. Null without VERP, and if the provider does not support it.',
    }),
  suppression: suppression.nullable(),
  report: report.nullable(),
  bounce: bounce.meta({
    description: 'hard: the address is bad. soft: it may work later. block: the sender or the message was refused. Null without a bounce.',
  }),
})

const summary = {
  trace_id: z.uuidv4(),
  status,
  outcome: z.enum(traceOutcomes),
  outcome_reason: z.string(),
  outcome_cause: z
    .enum(outcomeCauses)
    .nullable()
    .meta({
      description:
        'The cause if the mode of the destination did not decide: agent (its token can only send to the sandbox), test (of a ' +
        'template), or proof (a deliverability test, which is relayed from a sandbox too).',
    }),
  project_id: z.string(),
  door: z.enum(doors),
  submitted_by: z.string().meta({ description: 'Id of the API key, publishable key, SMTP credential or form.' }),
  from: z.string(),
  mail_from: z.string(),
  to: z.array(z.string()),
  recipients: z.array(recipientShape),
  bounce: bounce.meta({ description: 'The most severe bounce of its recipients: hard before block before soft.' }),
  recipient_counts: z
    .partialRecord(status, z.int())
    .meta({ description: 'Number of recipients by status; `status` is the most severe one.' }),
  summary: z.string().meta({ description: 'The counts as text: `2 delivered, 1 failed (hard bounce)`.' }),
  subject: z.string(),
  message_id: z.string(),
  destination_id: z.string().nullable(),
  route: z.object({
    by: z.string().meta({ description: 'request, credential, rule, project, org_default or none.' }),
    rule_id: z.string().nullable(),
    environment: z.string().nullable().meta({ description: 'The environment that selected the destination.' }),
    reason: z.string(),
  }),
  template: z.object({ id: z.string(), slug: z.string(), version: z.int() }).nullable(),
  tags: z.array(z.string()).meta({ description: 'As given with the message.' }),
  metadata: z.record(z.string(), z.string()).meta({ description: 'As given with the message.' }),
  attachment: z
    .boolean()
    .meta({ description: 'Whether the message has attachments according to its header. False for messages of earlier releases.' }),
  size: z.int().meta({ description: 'Size in octets of the message as submitted or composed, or as rewritten for tracking.' }),
  attempts: z.int(),
  next_attempt_at: wireTime.nullable().meta({ description: 'Null if no attempt is due, or during a hold.' }),
  held: z.boolean().meta({ description: 'Held in the queue: no attempt begins until it is released.' }),
  send_at: wireTime.nullable().meta({ description: 'The requested delivery time of a scheduled send.' }),
  created_at: wireTime,
  updated_at: wireTime,
}

export const traceSummaryShape = z.object(summary).meta({ id: 'TraceSummary' })

const count = z.int()

export const traceCounts = encoder(
  z
    .object({
      total: count,
      counts: z.partialRecord(status, count).meta({ description: 'Numbers by status, without zeros.' }),
      bounces: count.meta({
        description:
          'Messages with a bounced recipient, as `has=bounce` lists them: reported after sending (`bounced`), or refused by the ' +
          'receiving server (`failed`).',
      }),
      complete: z.boolean().meta({ description: 'false if more than 2,000 traces had to be scanned; the numbers are then minimums.' }),
    })
    .meta({ id: 'TraceCounts' }),
).from<TraceCounts>()

const tracking = z
  .object({
    clicks: z.boolean(),
    links: z.int().meta({ description: 'Number of rewritten links.' }),
    opens: z.boolean(),
    untracked_reason: untrackedReason.nullable().meta({ description: 'Why the requested tracking is applied only partly or not at all.' }),
    clicks_seen: z.int(),
    opens_seen: z.int(),
  })
  .meta({ description: 'The first opens and clicks are in the timeline. Programs that scan mail cause opens and clicks too.' })

const entryShape = z.object({ at: wireTime, event: z.string(), message: z.string(), detail: z.record(z.string(), z.unknown()) })

const traceShape = z
  .object({
    ...summary,
    tracking: tracking.nullable(),
    timeline: z.array(entryShape),
  })
  .meta({ id: 'Trace' })

const sharedTraceShape = z
  .object({
    trace_id: z.uuidv4(),
    status: z.string(),
    outcome: z.string(),
    provider: z.string().nullable(),
    recipients: z
      .array(z.object({ address: z.string(), status: z.string() }))
      .meta({ description: 'Recipients of the message without their local parts, and without blind copies.' }),
    timeline: z.array(z.object({ at: wireTime, event: z.string() })),
    replies: z
      .array(
        z.object({
          at: wireTime,
          attempt: z.int().nullable().meta({ description: 'Number of the attempt. Null for a reply that a later bounce quotes.' }),
          verdict: z.enum(recipientVerdicts),
          code: z.int().nullable(),
          enhanced: z.string().nullable(),
          text: z
            .string()
            .meta({ description: 'Verbatim; `[hidden]` replaces addresses, the local parts of recipients, and the subject.' }),
        }),
      )
      .meta({ description: 'Replies of servers about these recipients, without repetitions: the latest 20.' }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Category of the failure, such as `mailbox_full`. Null without a failed recipient.' }),
    created_at: wireTime,
    updated_at: wireTime,
  })
  .meta({ id: 'SharedTrace' })

const sentStatusShape = z
  .object({ trace_id: z.string(), status, outcome: z.enum(traceOutcomes), created_at: wireTime })
  .meta({ id: 'SentStatus', description: 'The send as a send-only key sees it.' })

const recipient = encoder(recipientShape).from<TraceRecipient>({
  bcc: ({ bcc }) => bcc === true,
  return_path: ({ returnPath, verp }) => (returnPath === undefined ? (verp ?? null) : returnPath),
  bounce: bounceOf,
})

/** Code for fields that differ from the core's trace; other shapes that extend a trace reuse it. */
export const traceSummaryCode = {
  trace_id: ({ id: traceId }: Trace) => traceId,
  from: ({ headerFrom }: Trace) => headerFrom,
  to: ({ recipients }: Trace) => recipients.map(({ address }) => address),
  recipients: ({ recipients }: Trace) => recipients.map(recipient.encode),
  bounce: worstBounce,
  recipient_counts: countsOf,
  summary: summaryOf,
  outcome_cause: (trace: Trace) => causeOf(trace) ?? null,
  subject: ({ subject }: Trace) => decodeEncodedWords(subject),
  route: ({ route: { by, ruleId, reason, environment } }: Trace) => ({ by, rule_id: ruleId, reason, environment: environment ?? null }),
  tags: ({ tags = [] }: Trace) => tags,
  metadata: ({ metadata = {} }: Trace) => metadata,
  attachment: ({ hasAttachment }: Trace) => hasAttachment === true,
  size: ({ content }: Trace) => content.size,
  next_attempt_at: (trace: Trace) => orNull(dueAt(trace)),
  held: ({ held }: Trace) => held !== undefined,
}

export const traceSummary = encoder(traceSummaryShape).from<Trace>(traceSummaryCode)

const entry = encoder(entryShape).from<TimelineEntry>()

/** A trace with its timeline; `waiting` explains why the message is not being delivered now, if it is queued. */
export interface TraceSeen {
  readonly details: TraceDetails
  readonly waiting: TimelineEntry | undefined
}

export const trace = encoder(traceShape)
  .from<Trace & TraceSeen>({
    ...traceSummaryCode,
    tracking: ({ tracking: asked, details: { engagement } }) =>
      asked
        ? {
            ...{ clicks: asked.clicks, links: asked.links, opens: asked.opens, untracked_reason: asked.off ?? null },
            ...{ clicks_seen: engagement?.clicks ?? 0, opens_seen: engagement?.opens ?? 0 },
          }
        : null,
    timeline: ({ details, waiting }) => [...timelineEntries(details), ...(waiting ? [waiting] : [])].map(entry.encode),
  })
  .via((seen: TraceSeen) => ({ ...seen.details.trace, ...seen }))

const sentStatus = encoder(sentStatusShape).from<Trace>({ trace_id: traceSummaryCode.trace_id })

/** The full trace, or only the status for a send-only key. */
export const traceOrStatus = encoderOf(z.union([traceShape, sentStatusShape]), (seen: TraceSeen | { readonly sent: Trace }) =>
  'sent' in seen ? sentStatus.encode(seen.sent) : trace.encode(seen),
)

export const sharedTrace = encoder(sharedTraceShape).from<SharedTrace>()
