/** Brevo: `POST /v3/smtp/email`, with a message for each of `messageVersions`. */
import * as z from 'zod'
import { refusals } from '#core/refusals.ts'
import { parseJson, usualJson } from '../../bodies/json/json-body.ts'
import { answer } from '../../operation/answer.ts'
import { accepted, dialectSend, type Dialect, type DialectMessage, type Fields } from '../dialect.ts'
import { errorAnswer, vendorCode, type VendorCodes } from '../error-body.ts'
import { brevoCalls } from '../calls/brevo-calls.ts'
import { readDefaults, unwatched } from '../body/ignored-fields.ts'
import { labelled, metadataAt, tagsAt, type Labelled } from '../body/labels.ts'
import { anyMap, mailboxOf, person, refused, templateName, text, timeOfText } from '../body/reading.ts'
import { filledIn, inBraces, valueAt, type Syntax } from '../body/substitution.ts'
import { templateFields } from '../body/templates.ts'

const people = z.array(person).nullish()

const version = z.looseObject({
  ...{ to: people, cc: people, bcc: people, replyTo: person.nullish() },
  ...{ subject: text, htmlContent: text, textContent: text, params: anyMap, templateId: templateName },
})

const email = version.extend({
  sender: z.looseObject({ email: text, name: text, id: refused('give the address of the sender') }).nullish(),
  headers: anyMap,
  attachment: z.array(z.looseObject({ name: text, content: text, url: refused('fetch the file and send it as content') })).nullish(),
  ...{ tags: z.array(z.string()).nullish(), scheduledAt: text },
  messageVersions: z.array(version).max(1000).nullish(),
})

type Email = z.output<typeof email>
type Version = z.output<typeof version>

/** `{{ params.name }}` in all spellings of Brevo. */
const params: Syntax = {
  pattern: /\{\{ {0,20}params\.([\w.-]{1,100}) {0,20}(?:\| {0,20}(?:safe|default ?: ?"([^"{}]{0,200})") {0,20})?\}\}/g,
  isRaw: (marker) => /\| *safe/.test(marker),
  ...inBraces,
}

const idempotency = /^idempotency-?key$/i
/** Returned in events. */
const custom = /^x-mailin-custom$/i
/** In characters; metadata cannot hold a longer value. */
const maxCustom = 8192
/** Header fields that are commands and are removed from the mail. */
const orders = /^(?:idempotency-?key|sender\.ip|x-(?:sib|mailin)-.*)$/i

function messageOf(given: Email, own: Version, at: string, { headers, labels, isTest }: Shared): DialectMessage {
  const templateId = own.templateId ?? given.templateId
  const versioned = unwatched(own)
  const inVersion = (name: keyof Version): string => (versioned[name] === undefined || versioned[name] === null ? name : `${at}${name}`)
  return {
    names: {
      ...{ from: 'sender', to: `${at}to`, cc: inVersion('cc'), bcc: inVersion('bcc'), reply_to: inVersion('replyTo') },
      ...{ subject: inVersion('subject'), html: inVersion('htmlContent'), text: inVersion('textContent'), attachments: 'attachment' },
      ...{ template_id: inVersion('templateId'), template_slug: inVersion('templateId'), template_vars: inVersion('params') },
      send_at: 'scheduledAt',
    },
    fields() {
      const replyTo = own.replyTo ?? given.replyTo
      const variables = { ...given.params, ...own.params }
      const subject = own.subject ?? given.subject
      const bodies = templateId
        ? { subject }
        : { subject, text: own.textContent ?? given.textContent, html: own.htmlContent ?? given.htmlContent }
      const { sender } = given
      return {
        from: sender?.email ? mailboxOf({ email: sender.email, name: sender.name }) : undefined,
        ...{ to: own.to?.map(mailboxOf) ?? [], cc: (own.cc ?? given.cc)?.map(mailboxOf), bcc: (own.bcc ?? given.bcc)?.map(mailboxOf) },
        reply_to: replyTo && mailboxOf(replyTo),
        ...filledIn(bodies, params, (name, fallback) => valueAt(variables, name) ?? fallback),
        headers,
        attachments: given.attachment?.map(({ name, content }) => ({ filename: name, content })),
        ...templateFields(templateId, () => variables),
        send_at: timeOfText(given.scheduledAt),
      }
    },
    own: own === given ? [] : [own],
    labels,
    ...(isTest && { isTest }),
  }
}

/** Parts that all versions share. Computed once, since there may be many versions. */
interface Shared {
  readonly headers: Fields
  readonly labels: Labelled
  readonly isTest: boolean
}

function sharedOf(given: Email): Shared {
  const kept: [string, unknown][] = []
  const left: string[] = []
  let isTest = false
  for (const [name, value] of Object.entries(given.headers ?? {})) {
    const isDrop = name.toLowerCase() === 'x-sib-sandbox' && value === 'drop'
    isTest ||= isDrop
    const isUsed = isDrop || custom.test(name) || (idempotency.test(name) && value === keyIn(given))
    if (!orders.test(name)) kept.push([name, value])
    else if (!isUsed) left.push(`headers.${name.slice(0, 64)}`)
  }
  const labels = labelled(tagsAt('tags', given.tags), customOf(given))
  return { headers: Object.fromEntries(kept), labels: { ...labels, left: [...left, ...labels.left] }, isTest }
}

/** Returns the metadata that events repeat: the fields of the object. The text itself is added unless the fields contain all of it. */
function customOf({ headers }: Email): Parameters<typeof labelled>[1] {
  const [name = '', given] = Object.entries(headers ?? {}).find(([one]) => custom.test(one)) ?? []
  if (typeof given !== 'string' || given === '') return []
  const path = `headers.${name}`
  const fields = given.length > maxCustom ? {} : objectOf(given)
  const isAlike = Object.keys(fields).length > 0 && Object.values(fields).every((value) => typeof value === 'string')
  const entries = metadataAt(path, fields)
  const isWhole = isAlike && labelled([], entries).left.length === 0
  return [...(isWhole ? [] : [[path, 'X-Mailin-custom', given] as const]), ...entries]
}

/** Returns an empty object for a text that is not a JSON object; the text itself is returned in events. */
function objectOf(given: string): Fields {
  const reading = parseJson(Buffer.from(given), usualJson)
  const value = 'value' in reading ? reading.value : undefined
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

function keyIn({ headers }: Email): string | undefined {
  const [, key] = Object.entries(headers ?? {}).find(([name]) => idempotency.test(name)) ?? []
  return typeof key === 'string' && key !== '' ? key : undefined
}

const errorCodes: VendorCodes<string> = {
  validation_failed: 'invalid_parameter',
  unauthorized: 'unauthorized',
  insufficient_scope: 'permission_denied',
  not_found: 'document_not_found',
  method_not_allowed: 'method_not_allowed',
  quota_exceeded: 'not_enough_credits',
  quota_exhausted: 'not_enough_credits',
  quota_exhausted_captures: 'not_enough_credits',
  project_budget_exhausted: 'not_enough_credits',
  conflict: 'duplicate_request',
  rate_limit_exceeded: 'too_many_requests',
  else: 'bad_request',
}

/** Their client retries a 429 twice, each after up to a minute. A daily limit lasts longer, so 402 is used. */
const statuses: VendorCodes<number | undefined> = { quota_exhausted: 402, project_budget_exhausted: 402, else: undefined }

export const brevo: Dialect = {
  name: 'Brevo',
  sends: [
    dialectSend({
      operationId: 'sendByBrevo',
      path: '/v3/smtp/email',
      body: email,
      translate(given) {
        const versions = given.messageVersions ?? []
        const shared = sharedOf(given)
        readDefaults(given, versions, ['templateId', 'replyTo', 'subject', 'cc', 'bcc'])
        const written = versions.filter(({ templateId }) => !(templateId ?? given.templateId))
        readDefaults(given, written, ['textContent', 'htmlContent'])
        const messages = versions.map((own, i) => messageOf(given, own, `messageVersions[${String(i)}].`, shared))
        return {
          messages: versions.length > 0 ? messages : [messageOf(given, given, '', shared)],
          isStrict: true,
          idempotencyKey: keyIn(given),
          own: versions,
        }
      },
      answer(sent, { messageVersions, scheduledAt }, publicHost) {
        const ids = accepted(sent).map(({ traceId }) => `<${traceId}@${publicHost}>`)
        const status = scheduledAt ? 202 : 201
        return answer(messageVersions?.length ? { messageIds: ids } : { messageId: ids[0] }, { status })
      },
    }),
  ],
  calls: brevoCalls,
  refused: (refusal) =>
    errorAnswer(
      { code: vendorCode(errorCodes, refusal), message: refusal.message },
      refusal,
      vendorCode(statuses, refusal) ?? refusals[refusal.code].http,
    ),
}
