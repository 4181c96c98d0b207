/** Postmark: `POST /email`, with templates and in batches; look-up of a message. */
import * as z from 'zod'
import type { ReadAddress } from '#core/capture/reading/message-reader.ts'
import { Refusal } from '#core/refusals.ts'
import type { Trace } from '#core/trace/trace.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { answer } from '../../operation/answer.ts'
import { toWireTime } from '../../wire/fields/time.ts'
import { dialectCall, dialectSend, type Dialect, type DialectCall, type DialectMessage, type Sent } from '../dialect.ts'
import { errorAnswer, vendorCode, type VendorCodes } from '../error-body.ts'
import { mailEvents, type MailEvent } from '../mail-events.ts'
import { mailboxText, type SentMail } from '../sent-mail.ts'
import { mailboxList } from '../body/mailbox-list.ts'
import { labelled, metadataAt } from '../body/labels.ts'
import { headerFields } from '../body/header-fields.ts'
import { anyMap, flag, templateName, text, withoutMarkers } from '../body/reading.ts'
import { templateFields } from '../body/templates.ts'

const attachment = z.looseObject({ Name: text, Content: text, ContentType: text, ContentID: text })

const unsubscribeMarker = /\{\{\{? {0,20}pm:unsubscribe/i
const instead = 'your own link, or list_unsubscribe of POST /v1/messages'

const email = z.looseObject({
  ...{ From: text, To: text, Cc: text, Bcc: text, ReplyTo: text, Subject: text },
  ...{ HtmlBody: withoutMarkers(text, unsubscribeMarker, instead), TextBody: withoutMarkers(text, unsubscribeMarker, instead) },
  Headers: z.array(z.looseObject({ Name: z.string(), Value: z.string() })).nullish(),
  Attachments: z.array(attachment).nullish(),
  ...{ Tag: text, Metadata: anyMap, TrackOpens: flag },
  TrackLinks: z.enum(['None', 'HtmlAndText', 'HtmlOnly', 'TextOnly']).nullish(),
  ...{ TemplateId: templateName, TemplateAlias: templateName, TemplateModel: anyMap, MessageStream: text },
})

type Email = z.output<typeof email>

const names = {
  ...{ from: 'From', to: 'To', cc: 'Cc', bcc: 'Bcc', reply_to: 'ReplyTo', subject: 'Subject', html: 'HtmlBody', text: 'TextBody' },
  ...{
    headers: 'Headers',
    attachments: 'Attachments',
    template_id: 'TemplateId',
    template_slug: 'TemplateAlias',
    template_vars: 'TemplateModel',
  },
}

const messageOf = (given: Email): DialectMessage => ({
  names,
  fields: () => ({
    ...{ from: given.From, to: mailboxList(given.To), cc: mailboxList(given.Cc), bcc: mailboxList(given.Bcc) },
    reply_to: given.ReplyTo ? mailboxList(given.ReplyTo) : undefined,
    ...{ subject: given.Subject || undefined, html: given.HtmlBody || undefined, text: given.TextBody || undefined },
    headers:
      given.Headers &&
      headerFields(
        given.Headers.map(({ Name, Value }) => [Name, Value] as const),
        'Headers',
      ),
    attachments: given.Attachments?.map((file) => ({
      ...{ filename: file.Name, content: file.Content, content_type: file.ContentType },
      content_id: file.ContentID ? file.ContentID.replace(/^cid:/, '') : undefined,
    })),
    ...templateFields(given.TemplateAlias || given.TemplateId, () => given.TemplateModel),
    ...(given.TrackOpens && { open_tracking_enabled: true }),
    ...(given.TrackLinks?.startsWith('Html') && { click_tracking_enabled: true }),
  }),
  own: [given],
  labels: labelled(given.Tag ? [['Tag', given.Tag]] : [], [...streamOf(given), ...metadataAt('Metadata', given.Metadata)]),
})

/** Returns the stream as metadata, since events repeat it. The default stream is omitted. */
const streamOf = ({ MessageStream: name }: Email): Parameters<typeof labelled>[1] =>
  name && name !== 'outbound' ? [['MessageStream', 'MessageStream', name]] : []

/** Returns the result of each message. */
function results(sent: Sent, given: readonly Email[]) {
  const SubmittedAt = new Date().toISOString()
  return sent.map((one, i) => {
    if (one instanceof Refusal) return { ErrorCode: vendorCode(codes, one), Message: one.message }
    const { To = '', Cc, Bcc } = given[i] ?? {}
    if (one.status === 'suppressed') return { ErrorCode: inactive, Message: inactiveText(To ?? ''), MessageID: one.traceId }
    return { To, ...(Cc && { Cc }), ...(Bcc && { Bcc }), SubmittedAt, MessageID: one.traceId, ErrorCode: 0, Message: 'OK' }
  })
}

/** Error code if every recipient is suppressed. */
const inactive = 406
const inactiveText = (to: string): string =>
  `You tried to send to recipient(s) that have been marked as inactive. Found inactive addresses: ${to}. Inactive recipients are ones that are on the suppression list.`

const codes: VendorCodes<number> = {
  unauthorized: 10,
  insufficient_scope: 10,
  validation_failed: 300,
  sender_not_allowed: 400,
  quota_exceeded: 405,
  quota_exhausted: 405,
  quota_exhausted_captures: 405,
  project_budget_exhausted: 429,
  rate_limit_exceeded: 429,
  request_too_large: 701,
  unsupported_media_type: 403,
  storage_full: 100,
  overloaded: 100,
  internal_error: 100,
  else: 300,
}

/** Their clients recognize invalid input only by 422. */
const statuses: VendorCodes<number> = {
  unauthorized: 401,
  insufficient_scope: 401,
  not_found: 404,
  method_not_allowed: 405,
  request_too_large: 413,
  unsupported_media_type: 415,
  rate_limit_exceeded: 429,
  project_budget_exhausted: 429,
  overloaded: 503,
  storage_full: 503,
  internal_error: 500,
  else: 422,
}

const one = (operationId: string, path: string) =>
  dialectSend({
    ...{ operationId, path, body: email },
    translate: (given) => ({ messages: [messageOf(given)], isStrict: true }),
    answer(sent, given) {
      const [result] = results(sent, [given])
      return answer(result ?? {}, { status: result?.ErrorCode === 0 ? 200 : 422 })
    },
  })

/** Postmark uses `Delivered` only for mail that has arrived. Acceptance by a provider is therefore the event `Sent` here. */
const eventTypes: Readonly<Partial<Record<MailEvent['type'], string>>> = {
  ...{ sent: 'Sent', delivered: 'Delivered', deferred: 'Transient', failed: 'Bounced', bounced: 'Bounced' },
  ...{ complained: 'SpamComplaint', opened: 'Opened', clicked: 'LinkClicked', suppressed: 'Suppressed', captured: 'Captured' },
}

const eventOf = ({ type, at, recipient, reply, reason, url }: MailEvent) => ({
  ...{ Recipient: recipient ?? '', Type: eventTypes[type] ?? '', ReceivedAt: toWireTime(at) },
  Details: {
    ...{ DeliveryMessage: reply ? `${String(reply.code)} ${reply.text}` : (reason ?? ''), Summary: reason ?? '' },
    ...(url !== undefined && { Link: url, ClickLocation: 'HTML' }),
  },
})

const statusOf = ({ status, sendAt, begunAt }: Trace): string => {
  if (status === 'pending' || status === 'queued') return sendAt !== undefined && begunAt === undefined ? 'Scheduled' : 'Queued'
  return status === 'sent' || status === 'delivered' ? 'Sent' : 'Processed'
}

async function details(mail: SentMail, id: string) {
  const details = await mail.details(id)
  const { trace } = details
  const message = await mail.message(trace)
  const people = (list: readonly ReadAddress[] = []) => list.map(({ address, name }) => ({ Email: address, Name: name }))
  const named = (isBcc: boolean) =>
    people(trace.recipients.filter(({ bcc = false }) => bcc === isBcc).map(({ address }) => ({ address, name: '' })))
  const [from = { address: trace.headerFrom, name: '' }] = message?.from ?? []
  const { tags: [Tag] = [], metadata: { MessageStream = 'outbound', ...Metadata } = {}, tracking } = trace
  return {
    ...{
      MessageID: trace.id,
      ...(Tag !== undefined && { Tag }),
      Metadata,
      MessageStream,
      Sandboxed: trace.outcome !== 'relayed',
    },
    ...{ From: mailboxText(from), To: message ? people(message.to) : named(false), Cc: people(message?.cc), Bcc: named(true) },
    ...{ Recipients: trace.recipients.map(({ address }) => address), Subject: decodeEncodedWords(trace.subject) },
    ...{ Attachments: message?.attachments.map(({ filename }) => filename) ?? [], Status: statusOf(trace) },
    ...{
      TrackOpens: tracking?.opens ?? false,
      TrackLinks: tracking?.clicks ? 'HtmlOnly' : 'None',
      ReceivedAt: toWireTime(trace.createdAt),
    },
    ...{ TextBody: message?.text ?? '', HtmlBody: message?.html ?? '', Body: await mail.source(trace) },
    MessageEvents: mailEvents(details).flatMap((event) => (eventTypes[event.type] ? [eventOf(event)] : [])),
  }
}

const params = z.strictObject({ id: z.string() })

const calls: readonly DialectCall[] = [
  dialectCall({
    operationId: 'getDetailsByPostmark',
    method: 'GET',
    path: '/messages/outbound/{id}/details',
    scope: 'api:read',
    params,
    handle: async (mail, { params: { id } }) => answer(await details(mail, id), {}),
  }),
  dialectCall({
    operationId: 'getSourceByPostmark',
    method: 'GET',
    path: '/messages/outbound/{id}/dump',
    scope: 'api:read',
    params,
    handle: async (mail, { params: { id } }) => answer({ Body: await mail.source((await mail.details(id)).trace) }, {}),
  }),
]

export const postmark: Dialect = {
  name: 'Postmark',
  orderFields: /^x-pm-/i,
  keepsMessageId: /^x-pm-keepid$/i,
  sends: [
    one('sendByPostmark', '/email'),
    one('sendTemplateByPostmark', '/email/withTemplate'),
    dialectSend({
      ...{ operationId: 'sendBatchByPostmark', path: '/email/batch', body: z.array(email).min(1).max(500) },
      translate: (given) => ({ messages: given.map(messageOf), own: given }),
      answer: (sent, given) => answer(results(sent, given), {}),
    }),
    dialectSend({
      ...{ operationId: 'sendTemplateBatchByPostmark', path: '/email/batchWithTemplates' },
      body: z.looseObject({ Messages: z.array(email).min(1).max(500) }),
      translate: ({ Messages }) => ({ messages: Messages.map(messageOf), own: Messages }),
      answer: (sent, { Messages }) => answer(results(sent, Messages), {}),
    }),
  ],
  calls,
  refused: (refusal) =>
    errorAnswer({ ErrorCode: vendorCode(codes, refusal), Message: refusal.message }, refusal, vendorCode(statuses, refusal)),
}
