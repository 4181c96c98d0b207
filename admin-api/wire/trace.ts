/** Traces on the wire: the full story for its owner, and the redacted one for whoever has the link. Spec "Trace". */
import * as z from 'zod'
import type { TraceStory } from '#core/trace/read.ts'
import { reportTypes } from '#core/trace/trace-report.ts'
import type { SharedTrace } from '#core/trace/redact.ts'
import { traceStatuses } from '#core/trace/states.ts'
import { storyEntries } from '#core/trace/story.ts'
import type { TimelineEntry } from '#core/trace/timeline.ts'
import { countsOf, summaryOf, worstBounce } from '#core/trace/summary.ts'
import { bounceOf, doors, type Trace } from '#core/trace/trace.ts'
import { untrackedReason } from '#core/trace/tracking.ts'
import { decodeEncodedWords } from '#ingest/encoded-words.ts'
import { toWireTime, wireTime } from './time.ts'

export const outcomes = ['relayed', 'captured.anonymous_project', 'captured.sandbox_destination', 'captured.no_route'] as const
/** Of a trace: `refused` is that of a send that was wrong. */
export const traceOutcomes = [...outcomes, 'refused'] as const

/** hard: the address is bad. soft: it may work later. block: the sender or the message was refused. */
export const bounceClasses = ['hard', 'soft', 'block'] as const

const status = z.enum(traceStatuses)
const bounce = z.enum(bounceClasses).nullable()
const reply = z.object({ code: z.int(), enhanced: z.string().nullable(), text: z.string() })

const suppression = z
  .object({ id: z.string(), source: z.string(), reason: z.string().nullable() })
  .meta({ description: 'The entry of the suppression list that kept the message from this recipient, as it was then.' })

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
      'What was told of this recipient, as far as it made the status what it is. With the status `failed`: the server refused the recipient for ' +
      'good, or put it off until it was given up, which is a bounce in all but the state.',
  })

const summary = {
  trace_id: z.uuidv4(),
  status,
  outcome: z.enum(traceOutcomes),
  outcome_reason: z.string(),
  project_id: z.string(),
  door: z.enum(doors),
  submitted_by: z.string().meta({ description: 'Id of the API key, publishable key or SMTP credential.' }),
  from: z.string(),
  mail_from: z.string(),
  to: z.array(z.string()),
  recipients: z.array(
    z.object({
      address: z.string(),
      status,
      bcc: z.boolean().meta({ description: 'A blind copy: no address field of the message names it.' }),
      reply: reply.nullable(),
      return_path: z
        .string()
        .nullable()
        .meta({
          description:
            'With VERP, the reverse-path for this recipient: its own, or the plain one after the provider refused it. ' +
            'Null without VERP, and where the provider takes none.',
        }),
      suppression: suppression.nullable(),
      report: report.nullable(),
      bounce: bounce.meta({
        description:
          'hard: the address is bad. soft: it may work later. block: the sender or the message was refused. Null without a bounce.',
      }),
    }),
  ),
  bounce: bounce.meta({ description: 'The worst bounce of its recipients: hard before block before soft.' }),
  recipient_counts: z
    .partialRecord(status, z.int())
    .meta({ description: 'How many recipients have which status; `status` alone is that of the worst.' }),
  summary: z.string().meta({ description: 'The same for people: `2 delivered, 1 failed (hard bounce)`.' }),
  subject: z.string(),
  message_id: z.string(),
  destination_id: z.string().nullable(),
  route: z.object({
    by: z.string().meta({ description: 'request, credential, rule, project, org_default or none.' }),
    rule_id: z.string().nullable(),
    environment: z.string().nullable().meta({ description: 'The environment by which the destination was found.' }),
    reason: z.string(),
  }),
  size: z.int().meta({ description: 'Octets of the message as submitted or composed, or as rewritten for tracking.' }),
  attempts: z.int(),
  next_attempt_at: wireTime.nullable(),
  send_at: wireTime.nullable().meta({ description: 'The time that a scheduled send was asked to leave at.' }),
  created_at: wireTime,
  updated_at: wireTime,
}

export const traceSummaryShape = z.object(summary).meta({ id: 'TraceSummary' })

const tracking = z
  .object({
    clicks: z.boolean(),
    links: z.int().meta({ description: 'Links that lead over this service.' }),
    opens: z.boolean(),
    untracked_reason: untrackedReason.nullable().meta({ description: 'Why not all is tracked that was asked for.' }),
    clicks_seen: z.int(),
    opens_seen: z.int(),
  })
  .meta({ description: 'The first openings and clicks stand in the timeline. Programs that look into mail open and click too.' })

export const traceShape = z
  .object({
    ...summary,
    tracking: tracking.nullable(),
    timeline: z.array(z.object({ at: wireTime, event: z.string(), message: z.string(), detail: z.record(z.string(), z.unknown()) })),
  })
  .meta({ id: 'Trace' })

export const sharedTraceShape = z
  .object({
    trace_id: z.uuidv4(),
    status: z.string(),
    outcome: z.string(),
    provider: z.string().nullable(),
    recipients: z
      .array(z.object({ address: z.string(), status: z.string() }))
      .meta({ description: 'Those that the message names, masked; blind copies are left out.' }),
    timeline: z.array(z.object({ at: wireTime, event: z.string() })),
    created_at: wireTime,
    updated_at: wireTime,
  })
  .meta({ id: 'SharedTrace' })

/** What a send-only key may know of its own send. */
export const sentStatusShape = z
  .object({ trace_id: z.string(), status, outcome: z.enum(traceOutcomes), created_at: wireTime })
  .meta({ id: 'SentStatus', description: 'What a send-only key is told of its own send.' })

export const toWireSentStatus = ({ id, status: state, outcome, createdAt }: Trace): z.input<typeof sentStatusShape> => ({
  trace_id: id,
  status: state,
  outcome,
  created_at: toWireTime(createdAt),
})

export const toWireTraceSummary = (trace: Trace): z.input<typeof traceSummaryShape> => ({
  trace_id: trace.id,
  status: trace.status,
  outcome: trace.outcome,
  outcome_reason: trace.outcomeReason,
  project_id: trace.projectId,
  door: trace.door,
  submitted_by: trace.submittedBy,
  from: trace.headerFrom,
  mail_from: trace.mailFrom,
  to: trace.recipients.map(({ address }) => address),
  recipients: trace.recipients.map(
    ({ address, status: state, bcc, reply: last, suppression: hit, verp, returnPath, report: told, bounce: own }) => ({
      address,
      status: state,
      bcc: bcc === true,
      reply: last ? { code: last.code, enhanced: last.enhanced ?? null, text: last.text } : null,
      return_path: returnPath === undefined ? (verp ?? null) : returnPath,
      suppression: hit ? { id: hit.id, source: hit.source, reason: hit.reason } : null,
      report: told ? { type: told.type, reason: told.reason, bounce: told.bounce, at: toWireTime(told.at) } : null,
      bounce: bounceOf({ bounce: own, report: told }),
    }),
  ),
  bounce: worstBounce(trace),
  recipient_counts: countsOf(trace),
  summary: summaryOf(trace),
  subject: decodeEncodedWords(trace.subject),
  message_id: trace.messageId,
  destination_id: trace.destinationId,
  route: {
    ...{ by: trace.route.by, rule_id: trace.route.ruleId, reason: trace.route.reason },
    environment: trace.route.environment ?? null,
  },
  size: trace.content.size,
  attempts: trace.attempts,
  next_attempt_at: trace.nextAttemptAt === null ? null : toWireTime(trace.nextAttemptAt),
  send_at: trace.sendAt === undefined ? null : toWireTime(trace.sendAt),
  created_at: toWireTime(trace.createdAt),
  updated_at: toWireTime(trace.updatedAt),
})

/** `waiting` is why the message rests now, where it does. */
export const toWireTrace = (story: TraceStory, waiting: TimelineEntry | undefined): z.input<typeof traceShape> => ({
  ...toWireTraceSummary(story.trace),
  tracking: story.trace.tracking
    ? {
        clicks: story.trace.tracking.clicks,
        links: story.trace.tracking.links,
        opens: story.trace.tracking.opens,
        untracked_reason: story.trace.tracking.off ?? null,
        clicks_seen: story.engagement?.clicks ?? 0,
        opens_seen: story.engagement?.opens ?? 0,
      }
    : null,
  timeline: [...storyEntries(story), ...(waiting ? [waiting] : [])].map(({ at, event, message, detail }) => ({
    at: toWireTime(at),
    event,
    message,
    detail: { ...detail },
  })),
})

export const toWireSharedTrace = (trace: SharedTrace): z.input<typeof sharedTraceShape> => ({
  trace_id: trace.traceId,
  status: trace.status,
  outcome: trace.outcome,
  provider: trace.provider,
  recipients: trace.recipients.map(({ address, status: state }) => ({ address, status: state })),
  timeline: trace.timeline.map(({ at, event }) => ({ at: toWireTime(at), event })),
  created_at: toWireTime(trace.createdAt),
  updated_at: toWireTime(trace.updatedAt),
})
