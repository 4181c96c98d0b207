/** Replies to submissions on the wire. */
import * as z from 'zod'
import { replyStatuses, statusOfReply, type FormReply } from '#core/forms/replies/reply.ts'
import type { ListedReply, ReplyPreview, SentReply } from '#core/forms/replies/replies.ts'
import type { Span } from '#core/templates/renderer.ts'
import { traceStatuses } from '#core/trace/states.ts'
import { encoder } from '../fields/codec.ts'
import { acceptance } from '../sending/send.ts'
import { mailboxText } from '../fields/mailbox.ts'
import { filledLine, id } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'

export const maxReplyBodyBytes = 1_048_576
const maxBody = 262_144

const from = mailboxText.meta({ description: 'Defaults to the sender of the destination.' })
const content = {
  from: from.optional(),
  subject: filledLine(989).optional(),
  text: z.string().min(1).max(maxBody).optional(),
  html: z.string().min(1).max(maxBody).optional(),
}

export const newReply = z.strictObject({
  submission_id: id,
  ...content,
  template_id: id
    .optional()
    .meta({ description: 'Provides subject, text and HTML; its variables include `fields` with the answers and `form.name`.' }),
  template_vars: z.record(z.string(), z.unknown()).optional().meta({ description: 'Additional variables of the template.' }),
})
export const repliesInput = z.strictObject({ submission_id: id })
export const draftKey = z.strictObject({ draft_id: id })
export const replyChanges = z.strictObject({ draft_id: id, ...content })

const replyShape = z
  .object({
    id: z.string(),
    form_id: z.string(),
    submission_id: z.string(),
    to: z.string().meta({ description: 'The address of the submission.' }),
    from: z.string().nullable(),
    subject: z.string(),
    text: z.string().nullable(),
    html: z.string().nullable(),
    template: z.object({ id: z.string(), version: z.int() }).nullable(),
    created_by: z.string(),
    by_agent: z.boolean().meta({ description: 'Whether an agent wrote the reply.' }),
    status: z.enum(replyStatuses).meta({ description: '`awaiting_approval`: an agent sent it, and a person must approve it.' }),
    trace_id: z.string().nullable().meta({ description: 'Trace of the message; null until it is sent.' }),
    trace_status: z.enum(traceStatuses).nullable().meta({ description: 'Status of the trace, in lists; null without a trace.' }),
    sent_at: wireTime.nullable(),
    created_at: wireTime,
    updated_at: wireTime,
  })
  .meta({ id: 'FormReply' })

export const reply = encoder(replyShape).from<FormReply & Partial<Pick<ListedReply, 'traceStatus'>>>({
  ...{ by_agent: ({ isByAgent }) => isByAgent, status: statusOfReply, trace_status: ({ traceStatus }) => traceStatus ?? null },
})
const span = z.object({ start: z.int(), end: z.int() })
const spansOf = (spans: readonly Span[]) => spans.map(([start, end]) => ({ start, end }))
export const replyPreview = encoder(
  replyShape
    .pick({ to: true, subject: true, text: true, html: true })
    .extend({
      filled: z.object({ subject: z.array(span), text: z.array(span) }).meta({
        description:
          'The parts of the subject and the text that come from template values, in UTF-16 code units. `start` equals `end` if a ' +
          'value is empty.',
      }),
    })
    .meta({ id: 'FormReplyPreview' }),
).from<ReplyPreview>({ filled: ({ filled }) => ({ subject: spansOf(filled.subject), text: spansOf(filled.text) }) })
export const sentReply = acceptance.via(({ acceptance: sent }: SentReply) => sent)
