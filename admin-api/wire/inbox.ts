/** Virtual inboxes and captured messages on the wire. Spec "Virtual inbox", "Captured message". */
import * as z from 'zod'
import { captureReasons, type Inbox } from '#core/capture/capture.ts'
import type { InboxChanges } from '#core/capture/inbox-settings.ts'
import type { CapturedMessage, CaptureSummary, Since } from '#core/capture/inboxes.ts'
import type { LastNotify } from '#core/capture/last-notify.ts'
import { decodeEncodedWords } from '#ingest/encoded-words.ts'
import { filledLine, id } from './text.ts'
import { toWireTime, wireTime } from './time.ts'

const inboxFields = {
  id: z.string(),
  project_id: z.string(),
  address_pattern: z.string(),
  name: z.string(),
  notify_webhook_url: z.string().nullable(),
  retention_days: z.int().nullable().meta({ description: 'Null: as long as the plan keeps traces.' }),
  created_at: wireTime,
}

export const inboxShape = z.object(inboxFields).meta({ id: 'Inbox' })

export const inboxDetailShape = z
  .object({
    ...inboxFields,
    signing_secret: z.string().nullable().meta({
      description:
        'Key of Service-Virtual-Inbox-Signature: all of it as text. Null without api:admin, and where the operator has one key for all inboxes.',
    }),
    last_notify: z
      .object({
        message_id: z.string(),
        at: wireTime,
        latency_ms: z.int(),
        status_code: z.int().nullable().meta({ description: 'Null when there was no answer.' }),
        error: z.string().nullable(),
      })
      .nullable()
      .meta({ description: 'What came of the latest notification.' }),
  })
  .meta({ id: 'InboxDetail' })

const retentionDaysMax = 3650

const changes = {
  name: filledLine(100),
  notify_webhook_url: z.string().min(1).max(2048).nullable().meta({
    description: 'Address that begins with https://. Each message is told once, without a second try; redirects are not followed.',
  }),
  retention_days: z.int().min(1).max(retentionDaysMax).nullable().meta({
    description: 'Days after which a message leaves the inbox. It is removed when every inbox that it is in has let it go.',
  }),
}

export const newInboxBody = z.strictObject({
  address_pattern: z
    .string()
    .min(1)
    .max(320)
    .meta({ description: '`*`, `@example.ch` or `user@example.ch`; letters of case make no difference.' }),
  name: changes.name.optional(),
  notify_webhook_url: changes.notify_webhook_url.optional(),
  retention_days: changes.retention_days.optional(),
  project_id: id.optional(),
})

export const inboxChangesBody = z.strictObject({ ...changes, project_id: id }).partial()

export const toInboxChanges = (body: z.output<typeof inboxChangesBody>): InboxChanges => ({
  name: body.name,
  notifyWebhookUrl: body.notify_webhook_url,
  retentionDays: body.retention_days,
  projectId: body.project_id,
})

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
    view_url: z
      .string()
      .meta({ description: 'A page that shows the message to whoever has this address, for about a quarter of an hour.' }),
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
  .meta({
    description:
      'RFC 3339 time, or id of a captured message; only what came after it. After an id nothing is missed, also where an address was ' +
      'found late, in the body; a time is compared with captured_at.',
  })

export const toWireInbox = (inbox: Inbox): z.input<typeof inboxShape> => ({
  id: inbox.id,
  project_id: inbox.projectId,
  address_pattern: inbox.addressPattern,
  name: inbox.name,
  notify_webhook_url: inbox.notifyWebhookUrl ?? null,
  retention_days: inbox.retentionDays ?? null,
  created_at: toWireTime(inbox.createdAt),
})

export const toWireInboxDetail = (
  inbox: Inbox,
  signingSecret: string | undefined,
  last: LastNotify | undefined,
): z.input<typeof inboxDetailShape> => ({
  ...toWireInbox(inbox),
  signing_secret: signingSecret ?? null,
  last_notify: last
    ? {
        message_id: last.captureId,
        at: toWireTime(last.at),
        latency_ms: last.milliseconds,
        status_code: last.statusCode,
        error: last.error,
      }
    : null,
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

/** `url` is the address of the message itself, `viewUrl` that of its page. */
export function toWireMessage({ capture, trace, read }: CapturedMessage, url: string, viewUrl: string): z.input<typeof messageShape> {
  const common = { ...summaryOf({ capture, trace }), raw_url: `${url}/raw`, view_url: viewUrl, captured_at: toWireTime(capture.capturedAt) }
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
