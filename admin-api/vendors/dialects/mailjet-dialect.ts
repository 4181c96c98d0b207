/** Mailjet: `POST /v3.1/send`. Each message of a request has its own result. */
import * as z from 'zod'
import { Refusal, refusals } from '#core/refusals.ts'
import { answer } from '../../operation/answer.ts'
import { dialectSend, type Dialect, type DialectMessage, type Fields, type Sent } from '../dialect.ts'
import { errorAnswer, vendorCode, type VendorCodes } from '../error-body.ts'
import { mailjetCalls } from '../calls/mailjet-calls.ts'
import { readDefaults } from '../body/ignored-fields.ts'
import { labelled, type Labelled } from '../body/labels.ts'
import { anyMap, flag, mailboxOf, refused, templateName, text, textMap } from '../body/reading.ts'
import { filledIn, inBraces, valueAt, type Syntax, type ValueOf, type Variables } from '../body/substitution.ts'
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
  DeduplicateCampaign: refused('omit recipients who already received the campaign'),
})

const body = z.looseObject({
  Messages: z.array(message).min(1).max(50),
  Globals: message.nullish(),
  SandboxMode: flag,
})

type Message = z.output<typeof message>
type FieldName = keyof typeof message.shape
const fieldNames = Object.keys(message.shape) as FieldName[]
/** Returns a field of a message, or that of `Globals`. */
type Field = <Name extends FieldName>(name: Name) => Message[Name]
type Body = z.output<typeof body>

/** `{{var:name}}` and `{{var:name:"default"}}`. */
const variable: Syntax = {
  pattern: /\{\{ {0,20}var:([\w.-]{1,100}) {0,20}(?::([^{}]{0,200}))?\}\}/g,
  isRaw: () => true,
  ...inBraces,
}
const unquoted = (given: string | undefined): string | undefined => given?.trim().replace(/^"(.*)"$/s, '$1')

const own = ({ Email: email, Name: name }: z.output<typeof person>) => mailboxOf({ email, name })

const names = {
  ...{ from: 'From', to: 'To', cc: 'Cc', bcc: 'Bcc', reply_to: 'ReplyTo', subject: 'Subject', text: 'TextPart', html: 'HTMLPart' },
  ...{ headers: 'Headers', attachments: 'Attachments', template_id: 'TemplateID', template_slug: 'TemplateID', template_vars: 'Variables' },
}

const fileOf = ({ Filename, ContentType, Base64Content, ContentID }: z.output<typeof file>) => ({
  ...{ filename: Filename, content_type: ContentType, content: Base64Content, content_id: ContentID },
})

function messageOf(given: Message, common: Message | null | undefined, i: number, isTest: boolean): DialectMessage {
  const at = `Messages[${String(i)}].`
  const field: Field = (name) => given[name] ?? common?.[name]
  return {
    names: Object.fromEntries(Object.entries(names).map(([name, theirs]) => [name, at + theirs])),
    fields: () => fieldsOf(field),
    own: [given],
    labels: labelsOf(field, at),
    ...(isTest && { isTest }),
  }
}

function fieldsOf(field: Field): Fields {
  const [from, replyTo, templateId] = [field('From'), field('ReplyTo'), field('TemplateID')]
  const bodies = { subject: field('Subject'), text: field('TextPart'), html: field('HTMLPart') }
  const people = (name: 'To' | 'Cc' | 'Bcc') => field(name)?.map(own)
  const hasVariables = field('TemplateLanguage') && !templateId
  return {
    ...{ from: from && own(from), to: people('To') ?? [], cc: people('Cc'), bcc: people('Bcc'), reply_to: replyTo && own(replyTo) },
    ...(hasVariables ? filledIn(bodies, variable, valuesOf(field('Variables') ?? {})) : bodies),
    headers: Object.fromEntries(Object.entries(field('Headers') ?? {}).filter(([name]) => !labelFields.has(name.toLowerCase()))),
    attachments: [
      ...(field('Attachments') ?? []).map(fileOf),
      ...(field('InlinedAttachments') ?? []).map((inlined) => ({ ...fileOf(inlined), disposition: 'inline' })),
    ],
    ...templateFields(templateId, () => field('Variables')),
    ...(field('TrackOpens') === 'enabled' && { open_tracking_enabled: true }),
    ...(field('TrackClicks') === 'enabled' && { click_tracking_enabled: true }),
  }
}

const valuesOf =
  (variables: Variables): ValueOf =>
  (name, fallback) =>
    valueAt(variables, name) ?? unquoted(fallback)

/** Header fields that are equivalent to a property and are removed from the mail. */
const labelFields: ReadonlyMap<string, 'CustomID' | 'EventPayload' | 'CustomCampaign'> = new Map([
  ['x-mj-customid', 'CustomID'],
  ['x-mj-eventpayload', 'EventPayload'],
  ['x-mailjet-campaign', 'CustomCampaign'],
])

function labelsOf(field: Field, at: string): Labelled {
  const inHeader: Partial<Record<'CustomID' | 'EventPayload' | 'CustomCampaign', string>> = {}
  for (const [name, value] of Object.entries(field('Headers') ?? {})) {
    const property = labelFields.get(name.toLowerCase())
    if (property) inHeader[property] = value
  }
  const said = (name: 'CustomID' | 'EventPayload' | 'CustomCampaign') => field(name) || inHeader[name]
  const campaign = said('CustomCampaign')
  const metadata = (['CustomID', 'EventPayload'] as const).flatMap((name) => {
    const value = said(name)
    return value ? [[at + name, name, value] as const] : []
  })
  return labelled(campaign ? [[`${at}CustomCampaign`, campaign]] : [], metadata)
}

const codes: VendorCodes<string> = {
  unauthorized: 'mj-0002',
  validation_failed: 'mj-0013',
  insufficient_scope: 'mj-0003',
  rate_limit_exceeded: 'mj-0019',
  request_too_large: 'mj-0031',
  else: 'send-0010',
}

const errorOf = (refusal: Refusal) => ({
  ErrorIdentifier: crypto.randomUUID(),
  ErrorCode: vendorCode(codes, refusal),
  StatusCode: refusals[refusal.code].http,
  ErrorMessage: refusal.message,
  ErrorRelatedTo: ((refusal.details?.['fields'] ?? []) as readonly { path: string }[]).map(({ path }) => path),
})

function results(sent: Sent, { Messages, Globals }: Body) {
  return sent.map((one, i) => {
    if (one instanceof Refusal) return { Status: 'error', Errors: [errorOf(one)] }
    const { To, Cc, Bcc, CustomID } = { ...Globals, ...Messages[i] }
    const reached = (list: Message['To']) =>
      (list ?? []).map(({ Email }) => ({
        ...{ Email, MessageUUID: one.traceId, MessageID: one.traceId, MessageHref: `/v1/traces/${one.traceId}` },
      }))
    return { Status: 'success', CustomID: CustomID ?? '', To: reached(To), Cc: reached(Cc), Bcc: reached(Bcc) }
  })
}

/** Returns 200 if some messages were accepted. Otherwise returns the status of the common refusal, or 400 if the refusals differ. */
function statusOf(sent: Sent): number {
  const causes = new Set(sent.map((one) => (one instanceof Refusal ? one.code : undefined)))
  const [code] = causes
  if (causes.has(undefined)) return 200
  return causes.size === 1 && code ? refusals[code].http : 400
}

export const mailjet: Dialect = {
  name: 'Mailjet',
  orderFields: /^x-(?:mj|mailjet)-/i,
  sends: [
    dialectSend({
      operationId: 'sendByMailjet',
      path: '/v3.1/send',
      body,
      translate({ Messages, Globals, SandboxMode }) {
        if (Globals) readDefaults(Globals, Messages, fieldNames)
        return { messages: Messages.map((given, i) => messageOf(given, Globals, i, SandboxMode === true)), own: Messages }
      },
      answer: (sent, given) => answer({ Messages: results(sent, given) }, { status: statusOf(sent) }),
    }),
  ],
  calls: mailjetCalls,
  refused(refusal) {
    const { ErrorRelatedTo: _, ...own } = errorOf(refusal)
    return errorAnswer(own, refusal, refusals[refusal.code].http)
  },
}
