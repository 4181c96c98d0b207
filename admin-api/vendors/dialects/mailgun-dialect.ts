/** Mailgun: `POST /v3/{domain}/messages` and `…/messages.mime` with form bodies; look-ups of events and of stored messages. */
import * as z from 'zod'
import { parseMailbox } from '#core/addresses.ts'
import { invalid, Refusal, refusals } from '#core/refusals.ts'
import type { Trace } from '#core/trace/trace.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { answer } from '../../operation/answer.ts'
import { accepted, dialectCall, dialectSend, type Dialect, type DialectCall, type DialectMessage, type Fields } from '../dialect.ts'
import { mailEvents, type MailEvent } from '../mail-events.ts'
import { answeredId, mailboxText, type SentMail } from '../sent-mail.ts'
import { retryHeaders } from '../error-body.ts'
import type { Form } from '../body/form.ts'
import { headerFields } from '../body/header-fields.ts'
import { mailboxList } from '../body/mailbox-list.ts'
import { objectIn } from '../body/json-text.ts'
import { labelled, maxLabelsSeen, tagsAt, type Labelled } from '../body/labels.ts'
import { timeOfText } from '../body/reading.ts'
import { filled, filledIn, filledJson, filledLine, type Syntax, type ValueOf } from '../body/substitution.ts'
import { templateFields } from '../body/templates.ts'

const maxRecipients = 1000

/** `%recipient.name%`, and `%recipient%` for the address. Some clients write `v:name` as the name. */
const recipientVariable: Syntax = {
  pattern: /%recipient(?:\.([\w:.-]{1,100}))?%/g,
  isRaw: () => true,
  openings: ['%recipient'],
  beyond: /(?!)/,
}

const names = {
  ...{ reply_to: 'h:Reply-To', headers: 'h:', attachments: 'attachment', send_at: 'o:deliverytime' },
  ...{ template_id: 'template', template_slug: 'template', template_vars: 't:variables', template_version: 't:version' },
}

/** With recipient variables, each recipient gets a separate message. */
function messagesOf(form: Form): readonly DialectMessage[] {
  const variables = form.object('recipient-variables')
  const to = mailboxList(form.all('to'))
  refuseBeyond(form)
  if (form.one('recipient-variables') === undefined) return [messageOf(form, to, undefined)]
  if (to.length > maxRecipients) throw invalid([{ path: 'to', message: `at most ${String(maxRecipients)} recipients with variables` }])
  const byAddress = new Map(Object.entries(variables).map(([address, values]) => [address.toLowerCase(), values]))
  return to.map((one) => {
    const address = parseMailbox(one)?.address ?? one
    return messageOf(form, [one], { address, values: byAddress.get(address.toLowerCase()) ?? {} })
  })
}

/** Fields that allow only one value; a second value would be lost. */
const singles = ['from', 'subject', 'text', 'html', 'template', 't:version', 't:variables', 'recipient-variables', 'o:deliverytime']

/** Markers that Mailgun replaces by links, and that would be visible here. */
const unsubscribeMarker = /%(?:mailing_list_|tag_)?unsubscribe_(?:url|email)%/i

/** Throws `validation_failed` for fields that would change the mail and have no effect here. */
function refuseBeyond(form: Form): void {
  const refuse = (path: string, message: string) => invalid([{ path, message }])
  if (form.has('amp-html')) throw refuse('amp-html', 'is not supported here; leave it out')
  for (const name of singles) if (form.isRepeated(name)) throw refuse(name, 'is given twice; send it once')
  for (const name of ['text', 'html'])
    if (unsubscribeMarker.test(form.one(name) ?? ''))
      throw refuse(name, 'contains an unsubscribe link that only Mailgun fills in; use your own link')
  for (const [name, value] of form.behind('h:'))
    if (unsubscribeMarker.test(value) && !isUnsubscribe(name))
      throw refuse(`h:${name.slice(0, 64)}`, 'contains an unsubscribe address that only Mailgun fills in; use your own address')
  const version = form.one('t:version')
  if (version !== undefined && !/^\d{1,9}$/.test(version)) throw refuse('t:version', 'must be the number of a version of the template')
}

const isUnsubscribe = (name: string): boolean => name.toLowerCase() === 'list-unsubscribe'
const isVariables = (name: string): boolean => name.toLowerCase() === 'x-mailgun-variables'

/** Returns a header field as it is sent: without Mailgun's markers in List-Unsubscribe, and without a Sender that repeats From. */
function fieldOf(name: string, value: string, from = ''): readonly (readonly [string, string])[] {
  const folded = name.toLowerCase()
  const addressOf = (text: string) => parseMailbox(text)?.address.toLowerCase()
  if (isVariables(name) || (folded === 'sender' && addressOf(value) === addressOf(from))) return []
  if (!isUnsubscribe(name) || !unsubscribeMarker.test(value)) return [[name, value]]
  const kept = mailboxList(value).filter((one) => !unsubscribeMarker.test(one))
  return kept.length > 0 ? [[name, kept.join(', ')]] : []
}

interface Recipient {
  readonly address: string
  readonly values: unknown
}

function messageOf(form: Form, to: readonly string[], recipient: Recipient | undefined): DialectMessage {
  let made: Own | undefined
  const own = () => (made ??= ownOf(form, recipient))
  return {
    names,
    fields: () => fieldsOf(form, to, own()),
    get labels() {
      return labelsOf(form, own().variables)
    },
    ...(form.is('o:testmode') && { isTest: true }),
  }
}

/** Texts of a form with the variables of a recipient. */
interface Own {
  readonly isFilled: boolean
  readonly valueOf: ValueOf
  readonly values: Fields
  /** Variables that the service stores with the message: fields `v:` and the fields of `h:X-Mailgun-Variables`. */
  readonly variables: Fields
}

function ownOf(form: Form, recipient: Recipient | undefined): Own {
  const values = typeof recipient?.values === 'object' ? ((recipient.values ?? {}) as Fields) : {}
  const valueOf = (name: string) => (name ? textOf(Object.hasOwn(values, name) ? values[name] : undefined) : recipient?.address)
  const inText = (name: string, given: string) => (recipient ? filled(name, given, recipientVariable, valueOf) : given)
  const fields = form.behind('v:').map(([name, value]) => [name, inText(`v:${name}`, value)] as const)
  const ofHeader = form.behind('h:').flatMap(([name, json]) => {
    const path = `h:${name}`
    if (!isVariables(name)) return []
    return Object.entries(objectIn(recipient ? filledJson(path, json, recipientVariable, valueOf) : json, path))
  })
  return { isFilled: recipient !== undefined, valueOf, values, variables: Object.fromEntries([...fields, ...ofHeader]) }
}

function fieldsOf(form: Form, to: readonly string[], { isFilled, valueOf, values, variables }: Own): Fields {
  const isReplyTo = (name: string): boolean => name.toLowerCase() === 'reply-to'
  const bodies = { subject: form.one('subject'), text: form.one('text'), html: form.one('html') }
  const fillIn = (name: string, given: string): string => (isFilled ? filledLine(name, given, recipientVariable, valueOf) : given)
  const inJson = (name: string, json: string): string => (isFilled ? filledJson(name, json, recipientVariable, valueOf) : json)
  const headers = form.behind('h:').flatMap(([name, value]) => fieldOf(name, fillIn(`h:${name}`, value), form.one('from')))
  const replyTo = headers.flatMap(([name, value]) => (isReplyTo(name) ? [value] : []))
  const version = form.one('t:version')
  return {
    ...{ from: form.one('from'), to, cc: mailboxList(form.all('cc')), bcc: mailboxList(form.all('bcc')) },
    reply_to: replyTo.length === 0 ? undefined : mailboxList(replyTo),
    ...(isFilled ? filledIn(bodies, recipientVariable, valueOf) : bodies),
    headers: headerFields(
      headers.filter(([name]) => !isReplyTo(name)),
      'h:',
    ),
    attachments: [
      ...form.files('attachment').map(({ name, type, content }) => ({ filename: name, content, content_type: type })),
      ...form.files('inline').map(({ name, type, content }) => ({
        ...{ filename: name, content, content_type: type, content_id: name, disposition: 'inline' },
      })),
    ],
    ...templateFields(form.one('template'), () => ({ ...variables, ...form.object('t:variables', inJson), ...values })),
    ...(version !== undefined && { template_version: Number(version) }),
    send_at: timeOfText(form.one('o:deliverytime')),
    ...trackingOf(form),
  }
}

const trackingOf = (form: Form): Fields => ({
  ...((form.is('o:tracking-clicks') || (form.is('o:tracking') && !form.one('o:tracking-clicks'))) && { click_tracking_enabled: true }),
  ...((form.is('o:tracking-opens') || (form.is('o:tracking') && !form.one('o:tracking-opens'))) && { open_tracking_enabled: true }),
})

const textOf = (value: unknown): string | undefined => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined)

function labelsOf(form: Form, variables: Fields): Labelled {
  const metadata = Object.entries(variables).slice(0, maxLabelsSeen)
  const labels = labelled(
    tagsAt('o:tag', form.all('o:tag')),
    metadata.map(([name, value]) => [`v:${name.slice(0, 64)}`, name, value] as const),
  )
  const isLeft = (name: string, value: string): boolean =>
    name.toLowerCase() === 'sender' || (isUnsubscribe(name) && unsubscribeMarker.test(value))
  const left = form.behind('h:').flatMap(([name, value]) => (isLeft(name, value) ? [`h:${name}`] : []))
  return { ...labels, left: [...left, ...labels.left] }
}

/** Fields that would change a whole message. */
const ofParts = ['cc', 'bcc', 'text', 'html', 'amp-html', 'template', 't:variables', 'recipient-variables', 'attachment', 'inline'] as const

function wholeMessageOf(form: Form): DialectMessage {
  return {
    isWhole: true,
    names: { mime: 'message', send_at: 'o:deliverytime' },
    fields() {
      const header = form.behind('h:').map(([name]) => `h:${name}`)
      const beside = [...ofParts.filter((name) => form.has(name)), ...header]
      if (beside.length > 0)
        throw invalid(
          beside
            .slice(0, 20)
            .map((path) => ({ path, message: 'is not allowed with `message`; put it into the message, and every recipient into `to`' })),
        )
      const [file] = form.files('message')
      const text = file ? undefined : form.one('message')
      if (!file && text === undefined) throw invalid([{ path: 'message', message: 'is required' }])
      return {
        mime: file ? { base64: file.content } : Buffer.from(text ?? ''),
        to: mailboxList(form.all('to')),
        send_at: timeOfText(form.one('o:deliverytime')),
        ...trackingOf(form),
      }
    },
    get labels() {
      return labelsOf(form, ownOf(form, undefined).variables)
    },
    ...(form.is('o:testmode') && { isTest: true }),
  }
}

const sendTo = (address: string, operationId: string, messages: (form: Form) => readonly DialectMessage[]) =>
  dialectSend({
    ...{ operationId, path: `/v3/{domain}/${address}`, params: z.strictObject({ domain: z.string().max(253) }) },
    translate: (form: Form) => ({
      messages: messages(form),
      ...{ isStrict: true, hasOneId: true },
      own: [form.all('to'), form.one('recipient-variables')],
    }),
    answer(sent, _, publicHost) {
      const [first] = accepted(sent)
      return answer({ id: `<${first?.traceId ?? ''}@${publicHost}>`, message: 'Queued. Thank you.' }, {})
    },
  })

/** Mailgun uses `delivered` only for mail that has arrived. Acceptance by a provider is therefore the event `sent` here. */
const eventNames: Readonly<Record<MailEvent['type'], string | undefined>> = {
  ...{ accepted: 'accepted', sent: 'sent', delivered: 'delivered', deferred: 'failed', failed: 'failed', bounced: 'failed' },
  ...{ suppressed: 'failed', complained: 'complained', opened: 'opened', clicked: 'clicked', captured: 'captured', canceled: 'canceled' },
  scheduled: undefined,
}

const eventOf = (trace: Trace, { type, at, recipient, reply, reason, url }: MailEvent, i: number, publicHost: string) => ({
  ...{ event: eventNames[type], id: `${trace.id}.${String(i)}`, timestamp: at / 1000, recipient: recipient ?? '' },
  'recipient-domain': recipient?.slice(recipient.lastIndexOf('@') + 1) ?? '',
  ...(eventNames[type] === 'failed' && { severity: type === 'deferred' ? 'temporary' : 'permanent', reason: type }),
  'delivery-status': { code: reply?.code ?? 0, message: reply?.text ?? reason ?? '', description: reason ?? '' },
  ...(url !== undefined && { url }),
  message: {
    headers: {
      ...{ 'message-id': `${answeredId(trace)}@${publicHost}`, from: trace.headerFrom, subject: decodeEncodedWords(trace.subject) },
      to: trace.recipients.flatMap(({ bcc, address }) => (bcc ? [] : [address])).join(', '),
    },
    ...{ attachments: [], size: trace.content.size },
  },
  envelope: { sender: trace.mailFrom, targets: recipient ?? '' },
  storage: { key: trace.id },
  flags: { 'is-test-mode': trace.outcome !== 'relayed' },
  ...{ tags: trace.tags ?? [], 'user-variables': trace.metadata ?? {} },
})

/** Unknown parameters are refused. Otherwise the caller would receive events that the ignored filter excludes. */
const eventsQuery = z.strictObject({
  'message-id': z.string(),
  recipient: z.string().optional(),
  event: z.string().max(200).optional(),
  ascending: z.enum(['yes', 'no']).optional(),
  limit: z.coerce.number().int().min(1).max(300).default(100),
})

async function eventsOf(mail: SentMail, asked: z.output<typeof eventsQuery>, publicHost: string) {
  const details = await mail.details(asked['message-id'])
  const wanted = asked.event?.toLowerCase().split(/ or /)
  const items = mailEvents(details)
    .filter(({ recipient }) => asked.recipient === undefined || recipient?.toLowerCase() === asked.recipient.toLowerCase())
    .map((event, i) => eventOf(details.trace, event, i, publicHost))
    .filter(({ event }) => event !== undefined && (wanted?.includes(event) ?? true))
  return { items: (asked.ascending === 'yes' ? items : items.toReversed()).slice(0, asked.limit), paging: {} }
}

async function stored(mail: SentMail, key: string) {
  const { trace } = await mail.details(key)
  const message = await mail.message(trace)
  return {
    ...{ sender: trace.mailFrom, recipients: trace.recipients.map(({ address }) => address).join(', ') },
    ...{ from: message?.from.map(mailboxText).join(', ') ?? trace.headerFrom, subject: decodeEncodedWords(trace.subject) },
    ...{ 'Message-Id': `<${trace.messageId}>`, 'message-headers': message?.headers.map(({ name, value }) => [name, value]) ?? [] },
    ...{ 'body-plain': message?.text ?? '', 'body-html': message?.html ?? '' },
    attachments:
      message?.attachments.map(({ filename, contentType, size }) => ({ name: filename, 'content-type': contentType, size })) ?? [],
  }
}

const params = z.strictObject({ domain: z.string() })

const calls: readonly DialectCall[] = [
  dialectCall({
    operationId: 'getEventsByMailgun',
    method: 'GET',
    path: '/v3/{domain}/events',
    scope: 'api:read',
    params,
    query: eventsQuery,
    handle: async (mail, { query, publicHost }) => answer(await eventsOf(mail, query, publicHost), {}),
  }),
  dialectCall({
    operationId: 'getStoredByMailgun',
    method: 'GET',
    path: '/v3/domains/{domain}/messages/{key}',
    scope: 'api:read',
    params: params.extend({ key: z.string() }),
    handle: async (mail, { params: { key } }) => answer(await stored(mail, key), {}),
  }),
]

export const mailgun: Dialect = {
  name: 'Mailgun',
  orderFields: /^x-mailgun-/i,
  keepsMessageId: true,
  sends: [sendTo('messages', 'sendByMailgun', messagesOf), sendTo('messages.mime', 'sendMimeByMailgun', (form) => [wholeMessageOf(form)])],
  calls,
  // their client shows a field `error` as the message, so our `error` object is omitted
  refused: (refusal: Refusal) =>
    answer(
      { message: refusal.message, code: refusal.code, next_action: refusal.nextAction },
      { status: refusals[refusal.code].http, headers: retryHeaders(refusal) },
    ),
}
