/** The body of a webhook delivery. One schema writes the body and describes it in the OpenAPI document. Spec "Events". */
import * as z from 'zod'
import { traceStatuses } from '../../trace/states.ts'
import type { Trace } from '../../trace/trace.ts'
import { webhookEventTypes, type WebhookEventType } from '../endpoint.ts'

/** A reply of the receiving server, verbatim. */
const replyShape = z
  .object({
    code: z.int().meta({ description: 'SMTP reply code, or HTTP status.' }),
    enhanced: z.string().nullable().meta({ description: 'Enhanced status code (RFC 3463) such as `5.1.1`.' }),
    text: z.string(),
  })
  .meta({ id: 'WebhookReply' })

const bounceShape = z
  .object({
    class: z.enum(['hard', 'soft', 'block']).meta({
      description:
        '`hard`: the address is bad. `soft`: it may work later. `block`: the address is fine, the sender or the message was refused.',
    }),
    category: z.string().nullable().meta({ description: 'Category of the failure, such as `mailbox_unknown`.' }),
    status: z.string().nullable().meta({ description: 'Enhanced status code (RFC 3463) such as `5.1.1`.' }),
    smtp_code: z.int().nullable(),
    diagnostic: z.string().nullable().meta({ description: 'Text of the reply of the server that refused.' }),
    remote_mta: z.string().nullable(),
  })
  .meta({ id: 'WebhookBounce' })

const complaintShape = z
  .object({ feedback_type: z.string().nullable().meta({ description: 'Such as `abuse` (RFC 5965 §3.1).' }) })
  .meta({ id: 'WebhookComplaint' })

const suppressionShape = z
  .object({ id: z.string(), reason: z.string().nullable(), expires_at: z.string().nullable() })
  .meta({ id: 'WebhookSuppression' })

const dataShape = z
  .object({
    trace_id: z.string().meta({ description: 'The message, as returned when it was sent.' }),
    project_id: z.string(),
    message_id: z.string().meta({ description: 'The Message-ID, without angle brackets.' }),
    destination_id: z.string().nullable(),
    tags: z.array(z.string()).meta({ description: 'As given with the message.' }),
    metadata: z.record(z.string(), z.string()).meta({ description: 'As given with the message.' }),
    recipient: z.string().meta({ description: 'The recipient that the event is about. Each recipient has separate events.' }),
    status: z.enum(traceStatuses).meta({ description: 'Status of the message for this recipient, as in its trace.' }),
    reason: z.string().nullable().meta({ description: 'The reason, in one sentence.' }),
    occurred_at: z
      .string()
      .meta({ description: 'When it happened, according to the report; otherwise when the service received the report.' }),
    reply: replyShape.nullable().meta({ description: 'The last reply about this recipient.' }),
    bounce: bounceShape
      .nullable()
      .meta({ description: 'Present with `bounced`, and with `failed` when a server refused the recipient permanently.' }),
    complaint: complaintShape.nullable().meta({ description: 'Present with `complained`.' }),
    corrects: z.string().nullable().meta({
      description: 'The id of the earlier event that this one corrects, after better evidence of the same outcome; otherwise null.',
    }),
    suppression: suppressionShape.nullable().meta({ description: 'Present with `auto_suppressed`: the suppression that was added.' }),
  })
  .meta({ id: 'WebhookEventData' })

export const webhookEventShape = z
  .object({
    id: z.string().meta({ description: 'Id of the event, the same in the deliveries to all endpoints.' }),
    type: z.enum(webhookEventTypes),
    created_at: z.string().meta({ description: 'RFC 3339, UTC.' }),
    test: z.literal(true).optional().meta({ description: 'Present only in test events.' }),
    data: dataShape,
  })
  .meta({ id: 'WebhookEvent' })

type Wire = z.input<typeof webhookEventShape>
export type EventWire = z.output<typeof webhookEventShape>

/** A state change of one recipient. */
export interface WebhookEvent {
  readonly organizationId: string
  readonly type: WebhookEventType
  /** The trace after the write of the event. */
  readonly trace: Pick<Trace, 'id' | 'projectId' | 'messageId' | 'destinationId' | 'recipients' | 'tags' | 'metadata'>
  /** Recipient address as in the trace. */
  readonly recipient: string
  /** The reason, in one sentence. */
  readonly reason: string | null
  /** Time when the service received the information, in milliseconds since the epoch. */
  readonly at: number
  /** Time of the event by the reporter's clock, in milliseconds since the epoch; null if the report has no time. */
  readonly occurredAt?: number | null | undefined
  readonly bounce?:
    | {
        readonly class: 'hard' | 'soft' | 'block'
        readonly category: string | null
        readonly status: string | null
        readonly smtpCode: number | null
        readonly diagnostic: string | null
        readonly remoteMta: string | null
      }
    | undefined
  /** Id of the earlier event that this event corrects. */
  readonly corrects?: string | undefined
  readonly complaint?: { readonly feedbackType: string | null } | undefined
  readonly suppression?: { readonly id: string; readonly reason: string | null; readonly expiresAt: number | null } | undefined
}

const time = (ms: number): string => new Date(ms).toISOString()

/** Returns the exact text that is sent and signed in every attempt. */
export function eventBody(id: string, event: WebhookEvent, isTest = false): string {
  const { type, trace, at, occurredAt } = event
  const recipient = trace.recipients.find(({ address }) => address === event.recipient)
  if (!recipient) throw new TypeError(`the trace ${trace.id} has no such recipient`)
  const wire: Wire = {
    id,
    type,
    created_at: time(at),
    ...(isTest && { test: true }),
    data: {
      trace_id: trace.id,
      project_id: trace.projectId,
      message_id: trace.messageId,
      destination_id: trace.destinationId,
      tags: [...(trace.tags ?? [])],
      metadata: trace.metadata ?? {},
      recipient: recipient.address,
      status: recipient.status,
      reason: event.reason,
      occurred_at: time(occurredAt ?? at),
      reply: recipient.reply
        ? { code: recipient.reply.code, enhanced: recipient.reply.enhanced ?? null, text: recipient.reply.text }
        : null,
      corrects: event.corrects ?? null,
      ...particulars(event),
    },
  }
  return JSON.stringify(wire)
}

/** Returns the fields that only some event types have. */
function particulars({ bounce, complaint, suppression }: WebhookEvent): Pick<Wire['data'], 'bounce' | 'complaint' | 'suppression'> {
  return {
    bounce: bounce
      ? {
          class: bounce.class,
          category: bounce.category,
          status: bounce.status,
          smtp_code: bounce.smtpCode,
          diagnostic: bounce.diagnostic,
          remote_mta: bounce.remoteMta,
        }
      : null,
    complaint: complaint ? { feedback_type: complaint.feedbackType } : null,
    suppression: suppression
      ? { id: suppression.id, reason: suppression.reason, expires_at: suppression.expiresAt === null ? null : time(suppression.expiresAt) }
      : null,
  }
}
