/** SendGrid: `POST /v3/mail/send`. Each personalization is a message. */
import * as z from 'zod'
import { refusals } from '#core/refusals.ts'
import { raw } from '../../operation/answer.ts'
import { accepted, dialectSend, type Dialect, type DialectMessage, type Fields } from '../dialect.ts'
import { errorAnswer } from '../error-body.ts'
import { readDefaults } from '../body/ignored-fields.ts'
import { labelled, metadataAt, tagsAt, type Labelled } from '../body/labels.ts'
import { headersOver } from '../body/header-fields.ts'
import { anyMap, flag, mailboxOf, person, refused, templateName, text, textMap, timeOfSeconds, withoutMarkers } from '../body/reading.ts'
import { replacedLiterally, type Bodies } from '../body/substitution.ts'
import { templateFields } from '../body/templates.ts'

const people = z.array(person).nullish()
const switched = z.looseObject({ enable: flag }).nullish()
const seconds = z.number().nullish()

const personalization = z.looseObject({
  from: person.nullish(),
  ...{ to: people, cc: people, bcc: people },
  ...{ subject: text, headers: textMap, substitutions: textMap, dynamic_template_data: anyMap, custom_args: anyMap, send_at: seconds },
})

const attachment = z.looseObject({ content: text, filename: text, type: text, disposition: text, content_id: text })

const maxMessages = 1000

/** Markers that SendGrid replaces by links, and that would be visible here. */
const unsubscribeMarker = /<%asm_\w+_url%>/i

const mail = z.looseObject({
  personalizations: z.array(personalization).min(1).max(maxMessages),
  from: person.nullish(),
  reply_to: person.nullish(),
  reply_to_list: people,
  subject: text,
  content: z
    .array(z.looseObject({ type: z.string(), value: withoutMarkers(z.string(), unsubscribeMarker, 'asm and your own link') }))
    .nullish(),
  attachments: z.array(attachment).nullish(),
  template_id: templateName,
  ...{ headers: textMap, substitutions: textMap, custom_args: anyMap, send_at: seconds },
  sections: refused('put the text into the bodies'),
  categories: z.union([z.string(), z.array(z.string())]).nullish(),
  asm: z.looseObject({ group_id: z.union([z.int(), z.string()]) }).nullish(),
  mail_settings: z
    .looseObject({
      sandbox_mode: switched,
      bcc: switched.refine((bcc) => !bcc?.enable, 'is not supported here; name the address in bcc of the personalizations'),
      footer: switched.refine((footer) => !footer?.enable, 'is not supported here; put the footer into the bodies'),
    })
    .nullish(),
  tracking_settings: z
    .looseObject({
      click_tracking: switched,
      open_tracking: z.looseObject({ enable: flag, substitution_tag: refused('the image is added at the end of the HTML') }).nullish(),
      subscription_tracking: switched.refine(
        (it) => !it?.enable,
        'is not supported here; use asm, or list_unsubscribe of POST /v1/messages',
      ),
      ganalytics: switched.refine((it) => !it?.enable, 'is not supported here; put the parameters into the links'),
    })
    .nullish(),
})

type Mail = z.output<typeof mail>
type Personalization = z.output<typeof personalization>

const bodyTypes: Readonly<Record<string, 'text' | 'html'>> = { 'text/plain': 'text', 'text/html': 'html' }

const contents = z
  .array(z.object({ type: z.string() }))
  .nullish()
  .superRefine((given, context) => {
    const fault = (i: number, message: string) => context.addIssue({ code: 'custom', path: [i, 'type'], message })
    const types = given?.map(({ type }) => type.toLowerCase()) ?? []
    for (const [i, type] of types.entries())
      if (!bodyTypes[type]) fault(i, 'must be text/plain or text/html; send other parts as attachments')
      else if (types.indexOf(type) !== i) fault(i, 'is given twice; send each part once')
  })

/** Checks both schemas. A refinement inside the schema would hide the fields that are ignored. */
const body = mail.superRefine(({ content, reply_to, reply_to_list }, context) => {
  if (reply_to && reply_to_list)
    context.addIssue({ code: 'custom', path: ['reply_to_list'], message: 'replaces reply_to; give one of them' })
  for (const issue of contents.safeParse(content).error?.issues ?? [])
    context.addIssue({ code: 'custom', path: ['content', ...issue.path], message: issue.message })
})

/** Dynamic templates define all content, including the subject; other content of the request is ignored. */
const isDynamic = ({ template_id: id }: Mail): boolean => typeof id === 'string' && id.startsWith('d-')

const bodyOf = ({ content }: Mail, part: 'text' | 'html'): string | undefined =>
  content?.find(({ type }) => bodyTypes[type.toLowerCase()] === part)?.value

function messageOf(given: Mail, own: Personalization, i: number): DialectMessage {
  const at = `personalizations[${String(i)}]`
  const { sandbox_mode: sandbox } = given.mail_settings ?? {}
  return {
    names: {
      ...{
        to: `${at}.to`,
        cc: `${at}.cc`,
        bcc: `${at}.bcc`,
        text: 'content',
        html: 'content',
        reply_to: 'reply_to_list',
        list_unsubscribe: 'asm',
      },
      ...{ template_slug: 'template_id', template_vars: `${at}.dynamic_template_data` },
      ...(own.send_at && { send_at: `${at}.send_at` }),
      ...(!isDynamic(given) && own.subject && { subject: `${at}.subject` }),
    },
    fields: () => fieldsOf(given, own, at),
    own: [own],
    labels: labelsOf(given, own, at),
    ...(sandbox?.enable && { isTest: true }),
  }
}

function fieldsOf(given: Mail, own: Personalization, at: string): Fields {
  const { click_tracking: clicks, open_tracking: opens } = given.tracking_settings ?? {}
  const templateId = isDynamic(given) ? given.template_id?.toString().slice(2) : given.template_id
  const from = own.from ?? given.from
  const replyTo = given.reply_to_list ?? (given.reply_to ? [given.reply_to] : undefined)
  return {
    from: from && mailboxOf(from),
    to: own.to?.map(mailboxOf) ?? [],
    ...{ cc: own.cc?.map(mailboxOf), bcc: own.bcc?.map(mailboxOf), reply_to: replyTo?.map(mailboxOf) },
    ...(!isDynamic(given) && bodiesOf(given, own, at)),
    headers: headersOver(given.headers, own.headers),
    attachments: given.attachments?.map(({ content, filename, type, disposition, content_id }) => ({
      ...{ content, filename, content_type: type, content_id, disposition },
    })),
    ...templateFields(templateId, () => own.dynamic_template_data ?? own.substitutions),
    send_at: timeOfSeconds(own.send_at ?? given.send_at),
    ...(given.asm && { list_unsubscribe: { list: `group ${String(given.asm.group_id)}` } }),
    ...(clicks?.enable && { click_tracking_enabled: true }),
    ...(opens?.enable && { open_tracking_enabled: true }),
  }
}

function bodiesOf(given: Mail, own: Personalization, at: string): Bodies {
  const bodies = { subject: own.subject ?? given.subject, text: bodyOf(given, 'text'), html: bodyOf(given, 'html') }
  return replacedLiterally(bodies, { ...given.substitutions, ...own.substitutions }, `${at}.substitutions`)
}

function labelsOf({ categories, custom_args: all }: Mail, own: Personalization, at: string): Labelled {
  const tags = typeof categories === 'string' ? [categories] : (categories ?? [])
  return labelled(tagsAt('categories', tags), [...metadataAt('custom_args', all), ...metadataAt(`${at}.custom_args`, own.custom_args)])
}

export const sendgrid: Dialect = {
  name: 'SendGrid',
  keepsMessageId: true,
  sends: [
    dialectSend({
      operationId: 'sendBySendGrid',
      path: '/v3/mail/send',
      body,
      translate(given) {
        const own = given.personalizations
        readDefaults(given, own, ['from', 'send_at', ...(isDynamic(given) ? [] : (['subject'] as const))])
        return { messages: own.map((one, i) => messageOf(given, one, i)), isStrict: true, hasOneId: true, own }
      },
      answer(sent, { mail_settings: settings }) {
        const [first] = accepted(sent)
        const isSandbox = settings?.sandbox_mode?.enable === true
        return raw('', { contentType: 'text/plain', status: isSandbox ? 200 : 202, headers: { 'x-message-id': first?.traceId ?? '' } })
      },
    }),
  ],
  refused(refusal) {
    const fields = refusal.details?.['fields'] as readonly { path: string; message: string }[] | undefined
    const errors = fields?.map(({ path, message }) => ({ message: `${path}: ${message}`, field: path, help: null }))
    return errorAnswer({ errors: errors ?? [{ message: refusal.message, field: null, help: null }] }, refusal, refusals[refusal.code].http)
  },
}
