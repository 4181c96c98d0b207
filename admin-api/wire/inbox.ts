/** Virtual inboxes and captured messages on the wire. Spec "Virtual inbox", "Captured message". */
import * as z from 'zod'
import { captureReasons, type Inbox } from '#core/capture/capture.ts'
import type { CapturedMessage, CaptureSummary, Since } from '#core/capture/inboxes.ts'
import { decodeEncodedWords } from '#ingest/encoded-words.ts'
import { toWireTime, wireTime } from './time.ts'

export const inboxShape = z
  .object({ id: z.string(), project_id: z.string(), address_pattern: z.string(), name: z.string(), created_at: wireTime })
  .meta({ id: 'Inbox' })

const summary = {
  id: z.string(),
  trace_id: z.uuidv4(),
  capture_reason: z.enum(captureReasons),
  destination_id: z.string().nullable().meta({ description: 'The destination that would have relayed.' }),
  intended_from: z.string(),
  intended_to: z.array(z.string()),
  addresses_seen: z.array(z.string()),
  subject: z.string(),
}

export const messageSummaryShape = z.object({ ...summary, captured_at: wireTime }).meta({ id: 'CapturedMessageSummary' })

export const messageShape = z
  .object({
    ...summary,
    headers: z.array(z.object({ name: z.string(), value: z.string() })),
    text: z.string(),
    html: z.string().meta({ description: 'Sanitized: no script, no form, no remote content.' }),
    attachments: z.array(
      z.object({
        filename: z.string(),
        content_type: z.string(),
        size: z.int(),
        content_id: z.string().optional(),
        inline: z.boolean(),
        url: z.string(),
      }),
    ),
    raw_url: z.string(),
    unreadable: z.string().optional().meta({ description: 'Why the message could not be read; the raw message is still there.' }),
    captured_at: wireTime,
  })
  .meta({ id: 'CapturedMessage' })

/** A point in time, or the id of a capture: what is asked for comes after it. */
export const since = z
  .string()
  .max(64)
  .transform((text, context): Since => {
    if (/^cap_[0-9a-f]{32}$/.test(text)) return { captureId: text }
    const time = z.iso.datetime({ offset: true }).safeParse(text)
    if (time.success) return { at: Date.parse(text) }
    context.addIssue({ code: 'custom', message: 'must be a time such as 2026-11-21T13:00:00Z, or the id of a captured message' })
    return z.NEVER
  })
  .meta({ description: 'RFC 3339 time, or id of a captured message; only what came after it.' })

export const toWireInbox = (inbox: Inbox): z.input<typeof inboxShape> => ({
  id: inbox.id,
  project_id: inbox.projectId,
  address_pattern: inbox.addressPattern,
  name: inbox.name,
  created_at: toWireTime(inbox.createdAt),
})

const summaryOf = ({ capture, trace }: CaptureSummary) => ({
  id: capture.id,
  trace_id: capture.traceId,
  capture_reason: capture.captureReason,
  destination_id: capture.destinationId,
  intended_from: capture.intendedFrom,
  intended_to: [...capture.intendedTo],
  addresses_seen: [...capture.addressesSeen],
  subject: decodeEncodedWords(trace.subject),
})

export const toWireMessageSummary = (summaryParts: CaptureSummary): z.input<typeof messageSummaryShape> => ({
  ...summaryOf(summaryParts),
  captured_at: toWireTime(summaryParts.capture.capturedAt),
})

/** `url` is the address of the message itself. */
export function toWireMessage({ capture, trace, read }: CapturedMessage, url: string): z.input<typeof messageShape> {
  const common = { ...summaryOf({ capture, trace }), raw_url: `${url}/raw`, captured_at: toWireTime(capture.capturedAt) }
  if (!read.ok) return { ...common, headers: [], text: '', html: '', attachments: [], unreadable: read.unreadable }
  const { message } = read
  return {
    ...common,
    subject: message.subject,
    headers: message.headers.map(({ name, value }) => ({ name, value })),
    text: message.text,
    html: message.html,
    attachments: message.attachments.map(({ filename, contentType, size, contentId, inline }, index) => ({
      filename,
      content_type: contentType,
      size,
      ...(contentId !== undefined && { content_id: contentId }),
      inline,
      url: `${url}/attachments/${index}`,
    })),
  }
}
