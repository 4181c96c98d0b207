/** Virtual inboxes and captured messages on the wire. Spec "Virtual inbox", "Captured message". */
import * as z from 'zod'
import { captureReasons, type Capture, type Inbox } from '#core/capture/capture.ts'
import { mostCounted, mostNew, type InboxFigures } from '#core/capture/inboxes/inbox-figures.ts'
import type { CapturedMessage, CaptureSummary, Since } from '#core/capture/inboxes/inboxes.ts'
import type { LastNotify } from '#core/capture/notify/last-notify.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { encoder } from '../fields/codec.ts'
import { contentFields, contentsOf, viewUrl } from '../fields/reading.ts'
import { shownUrl } from '#core/webhooks/endpoints/target-url.ts'
import { shownQuery } from '../feedback/webhook.ts'
import { id, nameLine } from '../fields/text.ts'
import { orNull, wireTime } from '../fields/time.ts'

const inboxFields = {
  id: z.string(),
  project_id: z.string(),
  address_pattern: z.string(),
  name: z.string(),
  notify_webhook_url: z.string().nullable().meta({ description: shownQuery }),
  retention_days: z.int().nullable().meta({ description: 'If null, the plan’s retention of traces applies.' }),
  created_at: wireTime,
}

const inboxShape = z.object(inboxFields).meta({ id: 'Inbox' })

const lastNotifyShape = z.object({
  message_id: z.string(),
  at: wireTime,
  latency_ms: z.int(),
  status_code: z.int().nullable().meta({ description: 'Null without a response.' }),
  error: z.string().nullable(),
})

const inboxDetailShape = z
  .object({
    ...inboxFields,
    signing_secret: z
      .string()
      .nullable()
      .meta({
        description:
          'Key of Service-Virtual-Inbox-Signature: the whole text. Null without `api:admin`, and if the operator configured one ' +
          'key for all inboxes.',
      }),
    last_notify: lastNotifyShape.nullable().meta({ description: 'Outcome of the latest notification.' }),
  })
  .meta({ id: 'InboxDetail' })

const maxRetentionDays = 3650

const changes = {
  name: nameLine(100),
  notify_webhook_url: z.string().min(1).max(2048).nullable().meta({
    description: 'An https URL. One notification for each message, without retries or redirects.',
  }),
  retention_days: z.int().min(1).max(maxRetentionDays).nullable().meta({
    description: 'Days until a message leaves the inbox. It is deleted when it has left all inboxes.',
  }),
}

export const newInbox = z.strictObject({
  address_pattern: z.string().min(1).max(320).meta({ description: '`*`, `@example.ch` or `user@example.ch`. Case-insensitive.' }),
  name: changes.name.optional(),
  notify_webhook_url: changes.notify_webhook_url.optional(),
  retention_days: changes.retention_days.optional(),
  project_id: id.optional(),
})

export const inboxChanges = z.strictObject({ ...changes, project_id: id }).partial()

/** Fields of a capture that do not require its content. */
const captureFields = {
  id: z.string(),
  trace_id: z.uuidv4(),
  capture_reason: z.enum(captureReasons),
  destination_id: z.string().nullable().meta({ description: 'The destination that would have relayed the message.' }),
  intended_from: z.string(),
  intended_to: z.array(z.string()),
  addresses_seen: z.array(z.string()),
}
const released = z
  .object({ trace_id: z.string(), destination_id: z.string(), at: wireTime })
  .optional()
  .meta({ description: 'The send created by the release; absent if the message was not released.' })
const summary = { ...captureFields, subject: z.string() }

const messageSummaryShape = z.object({ ...summary, captured_at: wireTime }).meta({ id: 'CapturedMessageSummary' })

const messageShape = z
  .object({
    ...summary,
    raw_url: z.string(),
    view_url: viewUrl,
    captured_at: wireTime,
    released,
    ...contentFields,
  })
  .meta({ id: 'CapturedMessage' })

/** A time, or the id of a capture. Results start after it. */
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
      'An RFC 3339 time (of `captured_at`) or the id of a captured message. Returns only later messages. With an id no message is ' +
      'missed, even if an address is found later in the body.',
  })

const notifiedAt = ({ notifyWebhookUrl: url }: Inbox) => (url === undefined ? null : shownUrl(url))

export const inbox = encoder(inboxShape).from<Inbox>({ notify_webhook_url: notifiedAt })

const inboxFiguresShape = z
  .object({
    inbox_id: z.string(),
    messages: z.int().meta({ description: `Messages in the inbox, counted up to ${mostCounted}.` }),
    has_more: z.boolean().meta({ description: 'Whether the inbox contains more messages than the counting limit.' }),
    last_message_at: wireTime.nullable().meta({ description: 'When the latest message was captured.' }),
    new_trace_ids: z.array(z.string()).meta({
      description: `Traces of the messages captured at \`since\` or later, newest first, at most ${mostNew}; empty without \`since\`.`,
    }),
  })
  .meta({ id: 'InboxFigures' })
export const inboxFigures = encoder(inboxFiguresShape).from<InboxFigures>({ last_message_at: ({ lastAt }) => orNull(lastAt) })

const lastNotify = encoder(lastNotifyShape).from<LastNotify>({
  message_id: ({ captureId }) => captureId,
  latency_ms: ({ milliseconds }) => milliseconds,
})

export const inboxDetail = encoder(inboxDetailShape).from<
  Inbox & { readonly signingSecret: string | undefined; readonly lastNotify: LastNotify | undefined }
>({ notify_webhook_url: notifiedAt, last_notify: ({ lastNotify: last }) => (last ? lastNotify.encode(last) : null) })

const summaryOf = ({ capture, trace }: CaptureSummary) => ({ ...capture, subject: decodeEncodedWords(trace.subject) })

/** A captured message with the URLs of the message and of its page. */
interface ShownMessage extends CapturedMessage {
  readonly url: string
  readonly viewUrl: string
}

const messageOf = ({ read, url, viewUrl, ...message }: ShownMessage) => ({
  ...summaryOf(message),
  rawUrl: `${url}/raw`,
  viewUrl,
  ...contentsOf(read, url),
})

export const capturedFacts = encoder(z.object({ ...captureFields, captured_at: wireTime, released })).from<Capture>()
export const messageSummary = encoder(messageSummaryShape).from<ReturnType<typeof summaryOf>>().via(summaryOf)
export const message = encoder(messageShape).from<ReturnType<typeof messageOf>>().via(messageOf)
