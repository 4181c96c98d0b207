/** Amazon SES, version 2 of its API: `POST /v2/email/outbound-emails` and `…/outbound-bulk-emails`. */
import * as z from 'zod'
import { invalid, Refusal, refusals } from '#core/refusals.ts'
import { answer } from '../../operation/answer.ts'
import { accepted, dialectSend, type Dialect, type DialectMessage, type DialectRequest, type Fields } from '../dialect.ts'
import { errorAnswer, vendorCode, type VendorCodes } from '../error-body.ts'
import { sesCalls } from '../calls/ses-calls.ts'
import { labelled, maxLabelsSeen, type Labelled } from '../body/labels.ts'
import { objectIn } from '../body/json-text.ts'
import { headerFields, headersOver } from '../body/header-fields.ts'
import { text } from '../body/reading.ts'
import { filledIn, mustache, valueAt, type Bodies, type Syntax } from '../body/substitution.ts'
import { templateFields } from '../body/templates.ts'

const addresses = z.array(z.string()).nullish()
const destination = z.looseObject({ ToAddresses: addresses, CcAddresses: addresses, BccAddresses: addresses }).nullish()
/** Ignores a value that equals this service's own behaviour, since it changes nothing. */
const said = (value: RegExp) => text.transform((given) => (value.test(given ?? '') ? undefined : given))
const charset = said(/^(?:utf-?8|(?:us-)?ascii)$/i)
const data = z.looseObject({ Data: z.string(), Charset: charset }).nullish()
const headers = z.array(z.looseObject({ Name: z.string(), Value: z.string() })).nullish()
const attachments = z
  .array(z.looseObject({ FileName: text, RawContent: text, ContentType: text, ContentId: text, ContentDisposition: text }))
  .nullish()
const tags = z.array(z.looseObject({ Name: z.string(), Value: z.string() })).nullish()

const template = z.looseObject({
  ...{ TemplateName: text, TemplateArn: text, TemplateData: text, Headers: headers, Attachments: attachments },
  TemplateContent: z.looseObject({ Subject: text, Text: text, Html: text }).nullish(),
})

const common = { FromEmailAddress: text, ReplyToAddresses: addresses }

const email = z.looseObject({
  ...common,
  Destination: destination,
  EmailTags: tags,
  Content: z.looseObject({
    Simple: z
      .looseObject({
        Subject: data,
        Body: z.looseObject({ Text: data, Html: data }).nullish(),
        ...{ Headers: headers, Attachments: attachments },
      })
      .nullish(),
    Raw: z.looseObject({ Data: z.string() }).nullish(),
    Template: template.nullish(),
  }),
  ListManagementOptions: z.looseObject({ ContactListName: z.string() }).nullish(),
})

const bulk = z.looseObject({
  ...common,
  DefaultEmailTags: tags,
  DefaultContent: z.looseObject({ Template: template }),
  BulkEmailEntries: z
    .array(
      z.looseObject({
        Destination: destination,
        ReplacementEmailContent: z
          .looseObject({ ReplacementTemplate: z.looseObject({ ReplacementTemplateData: text }).nullish() })
          .nullish(),
        ReplacementHeaders: headers,
        ReplacementTags: tags,
      }),
    )
    .min(1)
    .max(50),
})

type Email = z.output<typeof email>
type Bulk = z.output<typeof bulk>
type Template = z.output<typeof template>

/** Returns the request's field names for a template at this path. */
const namesOf = (at: string) => ({
  ...{ from: 'FromEmailAddress', reply_to: 'ReplyToAddresses', to: 'Destination.ToAddresses', cc: 'Destination.CcAddresses' },
  ...{ bcc: 'Destination.BccAddresses', list_unsubscribe: 'ListManagementOptions' },
  ...{ subject: `${at}.TemplateContent.Subject`, text: `${at}.TemplateContent.Text`, html: `${at}.TemplateContent.Html` },
  ...{ headers: `${at}.Headers`, attachments: `${at}.Attachments` },
  ...{ template_slug: `${at}.TemplateName`, template_id: `${at}.TemplateName`, template_vars: `${at}.TemplateData` },
})

const templateNames = namesOf('Content.Template')
const bulkNames = namesOf('DefaultContent.Template')
const simpleNames = {
  ...{
    ...templateNames,
    subject: 'Content.Simple.Subject.Data',
    text: 'Content.Simple.Body.Text.Data',
    html: 'Content.Simple.Body.Html.Data',
  },
  ...{ headers: 'Content.Simple.Headers', attachments: 'Content.Simple.Attachments' },
}

const recipientsOf = (given: z.output<typeof destination>): Fields => ({
  ...{ to: given?.ToAddresses ?? [], cc: given?.CcAddresses, bcc: given?.BccAddresses },
})

const filesOf = (given: z.output<typeof attachments>) =>
  given?.map(({ FileName, RawContent, ContentType, ContentId, ContentDisposition }) => ({
    ...{ filename: FileName, content: RawContent, content_type: ContentType, content_id: ContentId },
    disposition: ContentDisposition?.toLowerCase(),
  }))

const headersOf = (given: z.output<typeof headers>, path: string) =>
  headerFields(
    (given ?? []).map(({ Name, Value }) => [Name, Value] as const),
    path,
  )

/** SES does not escape HTML. */
const variable: Syntax = { ...mustache, isRaw: () => true }

/** Returns the fields of a stored template, or of an inline template, which supports only variables. */
function templateOf(given: Template, variables: () => Fields): Fields {
  const name = given.TemplateName || given.TemplateArn?.split('/').at(-1)
  const own = name ? undefined : given.TemplateContent
  if (!own) return templateFields(name, variables)
  const bodies: Bodies = { subject: own.Subject, text: own.Text, html: own.Html }
  const values = variables()
  return { ...filledIn(bodies, variable, (path) => valueAt(values, path)) }
}

const labelsOf = (given: z.output<typeof tags>, path: string): Labelled =>
  labelled(
    [],
    (given ?? []).slice(0, maxLabelsSeen).map(({ Name, Value }, i) => [`${path}[${String(i)}]`, Name, Value] as const),
  )

const nowhere = {
  path: 'Content.Raw',
  message: 'contains the whole message; omit Simple, Template, ListManagementOptions and ReplyToAddresses',
}

/** Returns a whole message. Without `Destination`, the recipients come from its header. */
function wholeMessageOf(given: Email, mime: string): DialectMessage {
  const { ToAddresses, CcAddresses, BccAddresses } = given.Destination ?? {}
  const to = [...(ToAddresses ?? []), ...(CcAddresses ?? []), ...(BccAddresses ?? [])]
  return {
    isWhole: true,
    names: { mime: 'Content.Raw.Data', from: 'FromEmailAddress', to: 'Destination' },
    fields() {
      const { Simple, Template: named } = given.Content
      if (Simple ?? named ?? given.ListManagementOptions ?? given.ReplyToAddresses?.[0]) throw invalid([nowhere])
      return { mime: { base64: mime }, from: given.FromEmailAddress, to: to.length > 0 ? to : undefined }
    },
    labels: labelsOf(given.EmailTags, 'EmailTags'),
  }
}

function messageOf(given: Email): DialectMessage {
  const { Content: content } = given
  if (content.Raw) return wholeMessageOf(given, content.Raw.Data)
  const { Simple: simple, Template: named } = content
  return {
    names: named && !simple ? templateNames : simpleNames,
    fields() {
      const list = given.ListManagementOptions?.ContactListName
      return {
        ...{ from: given.FromEmailAddress, ...recipientsOf(given.Destination), reply_to: given.ReplyToAddresses },
        ...{ subject: simple?.Subject?.Data, text: simple?.Body?.Text?.Data, html: simple?.Body?.Html?.Data },
        headers: headersOf(simple?.Headers ?? named?.Headers, `Content.${simple?.Headers ? 'Simple' : 'Template'}.Headers`),
        attachments: filesOf(simple?.Attachments ?? named?.Attachments),
        ...(named && templateOf(named, () => objectIn(named.TemplateData, 'Content.Template.TemplateData'))),
        ...(list && { list_unsubscribe: { list } }),
      }
    },
    labels: labelsOf(given.EmailTags, 'EmailTags'),
  }
}

/** Values of an entry override the default values. */
function messagesOf({ BulkEmailEntries: entries, DefaultContent: { Template: named }, ...given }: Bulk): readonly DialectMessage[] {
  return entries.map((entry, i) => {
    const at = `BulkEmailEntries[${String(i)}].`
    const path = `${at}ReplacementEmailContent.ReplacementTemplate.ReplacementTemplateData`
    return {
      names: {
        ...bulkNames,
        to: `${at}Destination.ToAddresses`,
        cc: `${at}Destination.CcAddresses`,
        bcc: `${at}Destination.BccAddresses`,
        template_vars: path,
      },
      fields: () => ({
        ...{ from: given.FromEmailAddress, ...recipientsOf(entry.Destination), reply_to: given.ReplyToAddresses },
        headers: headersOver(
          headersOf(named.Headers, 'DefaultContent.Template.Headers'),
          headersOf(entry.ReplacementHeaders, `${at}ReplacementHeaders`),
        ),
        attachments: filesOf(named.Attachments),
        ...templateOf(named, () => ({
          ...objectIn(named.TemplateData, 'DefaultContent.Template.TemplateData'),
          ...objectIn(entry.ReplacementEmailContent?.ReplacementTemplate?.ReplacementTemplateData, path),
        })),
      }),
      own: [entry],
      labels: labelsOf([...(given.DefaultEmailTags ?? []), ...(entry.ReplacementTags ?? [])], `${at}ReplacementTags`),
    }
  })
}

/** An AWS client sends the same id with each retry of a request. */
function idempotencyKeyOf({ headers: { 'amz-sdk-invocation-id': id } }: DialectRequest): string | undefined {
  return typeof id === 'string' && id !== '' && id.length <= 200 ? `amz-sdk-invocation-id/${id}` : undefined
}

const types: VendorCodes<string> = {
  validation_failed: 'BadRequestException',
  unauthorized: 'UnrecognizedClientException',
  invalid_signature: 'InvalidSignatureException',
  insufficient_scope: 'AccessDeniedException',
  not_found: 'NotFoundException',
  rate_limit_exceeded: 'TooManyRequestsException',
  quota_exceeded: 'AccountSuspendedException',
  quota_exhausted: 'LimitExceededException',
  quota_exhausted_captures: 'LimitExceededException',
  project_budget_exhausted: 'LimitExceededException',
  sender_not_allowed: 'MailFromDomainNotVerifiedException',
  no_route: 'MessageRejected',
  conflict: 'ConflictException',
  overloaded: 'InternalServiceErrorException',
  storage_full: 'InternalServiceErrorException',
  internal_error: 'InternalServiceErrorException',
  else: 'BadRequestException',
}

const statuses: VendorCodes<number | undefined> = {
  unauthorized: 403,
  invalid_signature: 403,
  insufficient_scope: 403,
  no_route: 400,
  else: undefined,
}

const bulkStatuses: VendorCodes<string> = {
  rate_limit_exceeded: 'ACCOUNT_THROTTLED',
  quota_exhausted: 'ACCOUNT_DAILY_QUOTA_EXCEEDED',
  project_budget_exhausted: 'ACCOUNT_DAILY_QUOTA_EXCEEDED',
  sender_not_allowed: 'MAIL_FROM_DOMAIN_NOT_VERIFIED',
  internal_error: 'TRANSIENT_FAILURE',
  overloaded: 'TRANSIENT_FAILURE',
  no_route: 'MESSAGE_REJECTED',
  else: 'INVALID_PARAMETER_VALUE',
}

export const ses: Dialect = {
  name: 'Amazon SES',
  signsRequests: true,
  orderFields: /^x-ses-/i,
  sends: [
    dialectSend({
      ...{ operationId: 'sendBySes', path: '/v2/email/outbound-emails', body: email },
      translate: (given, request) => ({ messages: [messageOf(given)], isStrict: true, idempotencyKey: idempotencyKeyOf(request) }),
      answer: (sent) => answer({ MessageId: accepted(sent)[0]?.traceId }, {}),
    }),
    dialectSend({
      ...{ operationId: 'sendBulkBySes', path: '/v2/email/outbound-bulk-emails', body: bulk },
      translate: (given, request) => ({
        messages: messagesOf(given),
        idempotencyKey: idempotencyKeyOf(request),
        own: given.BulkEmailEntries,
      }),
      answer: (sent) =>
        answer(
          {
            BulkEmailEntryResults: sent.map((one) =>
              one instanceof Refusal
                ? { Status: vendorCode(bulkStatuses, one), Error: one.message }
                : { Status: 'SUCCESS', MessageId: one.traceId },
            ),
          },
          {},
        ),
    }),
  ],
  calls: sesCalls,
  refused(refusal) {
    const type = vendorCode(types, refusal)
    const status = vendorCode(statuses, refusal) ?? refusals[refusal.code].http
    return errorAnswer({ __type: type, message: refusal.message }, refusal, status, { 'x-amzn-errortype': type })
  },
}
