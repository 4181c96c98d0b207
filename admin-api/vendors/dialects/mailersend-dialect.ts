/** MailerSend: `POST /v1/email` and `POST /v1/bulk-email`. */
import * as z from 'zod'
import { Refusal, refusals } from '#core/refusals.ts'
import type { Acceptance } from '#core/submission/submission.ts'
import { answer, raw } from '../../operation/answer.ts'
import { accepted, dialectSend, type Dialect, type DialectMessage } from '../dialect.ts'
import { errorAnswer } from '../error-body.ts'
import { mailersendCalls } from '../calls/mailersend-calls.ts'
import { labelled, tagsAt } from '../body/labels.ts'
import { headerFields } from '../body/header-fields.ts'
import { flag, mailboxOf, mapOf, person, refused, templateName, text, timeOfSeconds, timeOfText } from '../body/reading.ts'
import { filledIn, mustache, valueAt, type ValueOf, type Variables } from '../body/substitution.ts'
import { templateFields } from '../body/templates.ts'

const people = z.array(person).nullish()

const email = z.looseObject({
  ...{ from: person.nullish(), to: people, cc: people, bcc: people, reply_to: person.nullish() },
  ...{ subject: text, text, html: text, template_id: templateName },
  send_at: z.union([z.number(), z.string()]).nullish(),
  rcpt_to: refused('name all recipients in to, cc and bcc'),
  variables: refused('use personalization'),
  attachments: z.array(z.looseObject({ content: text, filename: text, disposition: text, id: text })).nullish(),
  tags: z.array(z.string()).nullish(),
  personalization: z.array(z.looseObject({ email: z.string(), data: mapOf(z.unknown()) })).nullish(),
  ...{ precedence_bulk: flag, in_reply_to: text, references: z.array(z.string()).nullish(), list_unsubscribe: text },
  headers: z.array(z.looseObject({ name: z.string(), value: z.string() })).nullish(),
  settings: z.looseObject({ track_clicks: flag, track_opens: flag }).nullish(),
})

type Email = z.output<typeof email>
type Person = z.output<typeof person>

/** Returns one message, or one for each recipient if there are variables for recipients. */
function messagesOf(given: Email, at = ''): readonly DialectMessage[] {
  const to = given.to ?? []
  const own: Personal = new Map((given.personalization ?? []).toReversed().map((one) => [one.email.toLowerCase(), one]))
  if (own.size === 0 || to.length < 2) return [messageOf(given, own, to, `${at}to`, at)]
  return to.map((one, i) => messageOf(given, own, [one], `${at}to[${String(i)}]`, at))
}

/** Returns whether `messagesOf` creates one message of it. */
const isOne = ({ to, personalization }: Email): boolean => !personalization?.length || (to?.length ?? 0) < 2

/** Variables of recipients, by address in lower case. */
type Personal = ReadonlyMap<string, NonNullable<Email['personalization']>[number]>

function messageOf(given: Email, personal: Personal, to: readonly Person[], path: string, at: string): DialectMessage {
  const [first] = to
  const values = personal.get(first?.email.toLowerCase() ?? '')
  const own = ['from', 'cc', 'bcc', 'reply_to', 'subject', 'text', 'html', 'attachments', 'headers', 'send_at'] as const
  return {
    names: {
      ...Object.fromEntries(own.map((name) => [name, at + name])),
      ...{ to: path, template_slug: `${at}template_id`, template_vars: `${at}personalization` },
    },
    own: to.length > 1 ? [given] : [given, ...to, values],
    fields: () => ({
      ...{ from: given.from && mailboxOf(given.from), to: to.map(mailboxOf), cc: given.cc?.map(mailboxOf), bcc: given.bcc?.map(mailboxOf) },
      reply_to: given.reply_to && mailboxOf(given.reply_to),
      ...(given.personalization?.length ? filledIn(given, mustache, valuesOf(values?.data)) : bodiesOf(given)),
      attachments: given.attachments?.map(({ filename, content, id, disposition }) => ({ filename, content, content_id: id, disposition })),
      headers: headerFields(headersOf(given), `${at}headers`),
      ...templateFields(given.template_id, () => values?.data),
      send_at: timeOf(given.send_at),
      ...(given.settings?.track_clicks && { click_tracking_enabled: true }),
      ...(given.settings?.track_opens && { open_tracking_enabled: true }),
    }),
    labels: labelled(tagsAt(`${at}tags`, given.tags), []),
  }
}

const valuesOf =
  (variables: Variables = {}): ValueOf =>
  (name) =>
    valueAt(variables, name)

/** Their client sends seconds, as a number or as text. */
const timeOf = (given: Email['send_at']): string | undefined =>
  typeof given === 'string' && !/^\d{1,12}$/.test(given) ? timeOfText(given) : timeOfSeconds(given === null ? given : Number(given ?? 0))

const bodiesOf = ({ subject, text: plain, html }: Email) => ({ subject, text: plain, html })

function headersOf(given: Email): (readonly [string, string])[] {
  const list = (given.headers ?? []).map(({ name, value }) => [name, value] as const)
  if (given.in_reply_to) list.push(['In-Reply-To', given.in_reply_to])
  if (given.references?.length) list.push(['References', given.references.join(' ')])
  if (given.precedence_bulk) list.push(['Precedence', 'bulk'])
  if (given.list_unsubscribe) list.push(['List-Unsubscribe', given.list_unsubscribe])
  return list
}

const status = { validation_failed: 422 } as Readonly<Record<string, number>>

export const mailersend: Dialect = {
  name: 'MailerSend',
  sends: [
    dialectSend({
      operationId: 'sendByMailerSend',
      path: '/v1/email',
      body: email,
      translate: (given) => ({ messages: messagesOf(given), isStrict: true, hasOneId: true }),
      answer(sent) {
        const [first] = accepted(sent)
        return raw('', { contentType: 'text/plain', status: 202, headers: { 'x-message-id': first?.traceId ?? '' } })
      },
    }),
    dialectSend({
      operationId: 'sendBulkByMailerSend',
      path: '/v1/bulk-email',
      body: z.array(email).min(1).max(500),
      translate: (given) => ({
        messages: given.flatMap((one, i) => messagesOf(one, `[${String(i)}].`)),
        keepsReport: true,
        own: given.filter(isOne),
      }),
      answer(sent) {
        const first = sent.find((one): one is Acceptance => !(one instanceof Refusal))
        const [refusal] = sent
        if (!first && refusal instanceof Refusal) throw refusal
        return answer({ message: 'The bulk email is being processed.', bulk_email_id: first?.traceId }, { status: 202 })
      },
    }),
  ],
  calls: mailersendCalls,
  refused(refusal) {
    const fields = refusal.details?.['fields'] as readonly { path: string; message: string }[] | undefined
    const errors = fields && Object.fromEntries(fields.map(({ path, message }) => [path, [`${path}: ${message}`]]))
    return errorAnswer(
      { message: refusal.message, ...(errors && { errors }) },
      refusal,
      status[refusal.code] ?? refusals[refusal.code].http,
    )
  },
}
