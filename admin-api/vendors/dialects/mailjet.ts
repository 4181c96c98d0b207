/** Mailjet: `POST /v3.1/send`, where each message of a request has its own result. */
import * as z from 'zod'
import { Refusal, refusals } from '#core/refusals.ts'
import { answer } from '../../operation/answer.ts'
import { dialectSend, type Dialect, type DialectMessage, type Sent } from '../dialect.ts'
import { errorAnswer, wordFor, type Words } from '../error-body.ts'
import { mailjetCalls } from '../calls/mailjet-calls.ts'
import { labelled, metadataAt } from '../body/labels.ts'
import { anyMap, flag, mailboxOf, refused, templateName, text, textMap } from '../body/reading.ts'
import { filledIn, inBraces, valueAt, type Syntax } from '../body/substitution.ts'
import { templateFields } from '../body/templates.ts'

const person = z.looseObject({ Email: z.string(), Name: text })
const people = z.array(person).nullish()
const file = z.looseObject({ Filename: text, ContentType: text, Base64Content: text, ContentID: text })
const tracked = z.enum(['account_default', 'disabled', 'enabled']).nullish()

const message = z.looseObject({
  ...{ From: person.nullish(), To: people, Cc: people, Bcc: people, ReplyTo: person.nullish() },
  Sender: refused('give the address as From'),
  ...{ Subject: text, TextPart: text, HTMLPart: text, Headers: textMap },
  ...{ Attachments: z.array(file).nullish(), InlinedAttachments: z.array(file).nullish() },
  ...{ TemplateID: templateName, TemplateLanguage: flag, Variables: anyMap, TrackOpens: tracked, TrackClicks: tracked },
  ...{ CustomID: text, CustomCampaign: text, EventPayload: text },
  URLTags: refused('put the parameters into the links'),
  DeduplicateCampaign: refused('leave out those who got the campaign already'),
})

const body = z.looseObject({
  Messages: z.array(message).min(1).max(50),
  Globals: message.nullish(),
  SandboxMode: flag,
})

type Message = z.output<typeof message>
type Body = z.output<typeof body>

/** `{{var:name}}` and `{{var:name:"default"}}`. */
const variable: Syntax = {
  pattern: /\{\{ {0,20}var:([\w.-]{1,100}) {0,20}(?::([^{}]{0,200}))?\}\}/g,
  isRaw: () => true,
  ...inBraces,
}
const unquoted = (given: string | undefined): string | undefined => given?.trim().replace(/^"(.*)"$/s, '$1')

const own = ({ Email: email, Name: name }: z.output<typeof person>) => mailboxOf({ email, name })

function messageOf(given: Message, i: number, isTest: boolean): DialectMessage {
  const at = `Messages[${String(i)}].`
  const names = {
    ...{ from: 'From', to: 'To', cc: 'Cc', bcc: 'Bcc', reply_to: 'ReplyTo', subject: 'Subject', text: 'TextPart', html: 'HTMLPart' },
    ...{
      headers: 'Headers',
      attachments: 'Attachments',
      template_id: 'TemplateID',
      template_slug: 'TemplateID',
      template_vars: 'Variables',
    },
  }
  const fileOf = ({ Filename, ContentType, Base64Content, ContentID }: z.output<typeof file>) => ({
    ...{ filename: Filename, content_type: ContentType, content: Base64Content, content_id: ContentID },
  })
  return {
    names: Object.fromEntries(Object.entries(names).map(([name, theirs]) => [name, at + theirs])),
    fields() {
      const bodies = { subject: given.Subject, text: given.TextPart, html: given.HTMLPart }
      const valueOf = (name: string, fallback?: string) => valueAt(given.Variables ?? {}, name) ?? unquoted(fallback)
      return {
        ...{ from: given.From && own(given.From), to: given.To?.map(own) ?? [], cc: given.Cc?.map(own), bcc: given.Bcc?.map(own) },
        reply_to: given.ReplyTo && own(given.ReplyTo),
        ...(given.TemplateLanguage && !given.TemplateID ? filledIn(bodies, variable, valueOf) : bodies),
        headers: given.Headers,
        attachments: [
          ...(given.Attachments ?? []).map(fileOf),
          ...(given.InlinedAttachments ?? []).map((inlined) => ({ ...fileOf(inlined), disposition: 'inline' })),
        ],
        ...templateFields(given.TemplateID, given.Variables),
        ...(given.TrackOpens === 'enabled' && { open_tracking_enabled: true }),
        ...(given.TrackClicks === 'enabled' && { click_tracking_enabled: true }),
      }
    },
    labels: labelled(given.CustomCampaign ? [[`${at}CustomCampaign`, given.CustomCampaign]] : [], [
      ...metadataAt(at.slice(0, -1), {
        ...(given.CustomID && { CustomID: given.CustomID }),
        ...(given.EventPayload && { EventPayload: given.EventPayload }),
      }),
    ]),
    ...(isTest && { isTest }),
  }
}

const codes: Words<string> = {
  unauthorized: 'mj-0002',
  validation_failed: 'mj-0013',
  insufficient_scope: 'mj-0003',
  rate_limit_exceeded: 'mj-0019',
  request_too_large: 'mj-0031',
  else: 'send-0010',
}

const errorOf = (refusal: Refusal) => ({
  ErrorIdentifier: crypto.randomUUID(),
  ErrorCode: wordFor(codes, refusal),
  StatusCode: refusals[refusal.code].http,
  ErrorMessage: refusal.message,
  ErrorRelatedTo: ((refusal.details?.['fields'] ?? []) as readonly { path: string }[]).map(({ path }) => path),
})

function results(sent: Sent, { Messages, Globals }: Body) {
  return sent.map((one, i) => {
    if (one instanceof Refusal) return { Status: 'error', Errors: [errorOf(one)] }
    const given = { ...Globals, ...Messages[i] }
    const reached = (list: Message['To']) =>
      (list ?? []).map(({ Email }) => ({
        ...{ Email, MessageUUID: one.traceId, MessageID: one.traceId, MessageHref: `/v1/traces/${one.traceId}` },
      }))
    return { Status: 'success', CustomID: given.CustomID ?? '', To: reached(given.To), Cc: reached(given.Cc), Bcc: reached(given.Bcc) }
  })
}

/** Of a request in which some were accepted, 200; otherwise what all were refused for, where that is one thing. */
function statusOf(sent: Sent): number {
  const causes = new Set(sent.map((one) => (one instanceof Refusal ? one.code : undefined)))
  const [code] = causes
  if (causes.has(undefined)) return 200
  return causes.size === 1 && code ? refusals[code].http : 400
}

export const mailjet: Dialect = {
  name: 'Mailjet',
  sends: [
    dialectSend({
      operationId: 'sendByMailjet',
      path: '/v3.1/send',
      body,
      translate: ({ Messages, Globals, SandboxMode }) => ({
        messages: Messages.map((given, i) => messageOf({ ...Globals, ...given }, i, SandboxMode === true)),
        own: Messages,
      }),
      answer: (sent, given) => answer({ Messages: results(sent, given) }, { status: statusOf(sent) }),
    }),
  ],
  calls: mailjetCalls,
  refused(refusal) {
    const { ErrorRelatedTo: _, ...own } = errorOf(refusal)
    return errorAnswer(own, refusal, refusals[refusal.code].http)
  },
}
