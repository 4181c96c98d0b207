/** Mailgun: `POST /v3/{domain}/messages` and `…/messages.mime`, in the parts of a form. */
import * as z from 'zod'
import { parseMailbox } from '#core/addresses.ts'
import { invalid, Refusal, refusals } from '#core/refusals.ts'
import { answer } from '../../operation/answer.ts'
import { accepted, dialectSend, type Dialect, type DialectMessage, type Fields } from '../dialect.ts'
import { retryHeaders } from '../error-body.ts'
import type { FormFile, FormRequest } from '../body/form-request.ts'
import { mailboxList } from '../body/mailbox-list.ts'
import { labelled, tagsAt, type Labelled } from '../body/labels.ts'
import { headerFields, timeOfText } from '../body/reading.ts'
import { filledIn, type Syntax } from '../body/substitution.ts'
import { templateFields } from '../body/templates.ts'

const maxRecipients = 1000
const maxJson = 1_048_576

/** `%recipient.name%`, and `%recipient%` for the address itself. */
const recipientVariable: Syntax = {
  pattern: /%recipient(?:\.([\w-]{1,100}))?%/g,
  isRaw: () => true,
  openings: ['%recipient'],
  beyond: /(?!)/,
}

/** Parts that are read; all others, but those of `h:`, `v:` and `o:`, have no effect. */
const known = new Set(['from', 'to', 'cc', 'bcc', 'subject', 'text', 'html', 'template', 't:variables', 't:version', 'recipient-variables'])
const knownOptions = new Set(['o:tag', 'o:deliverytime', 'o:testmode', 'o:tracking', 'o:tracking-clicks', 'o:tracking-opens'])

class Form {
  readonly #request: FormRequest

  constructor(request: FormRequest) {
    this.#request = request
  }

  all(name: string): readonly string[] {
    return this.#request.fields.get(name) ?? []
  }

  one(name: string): string | undefined {
    return this.all(name)[0] || undefined
  }

  is(name: string): boolean {
    return /^(?:yes|true|htmlonly)$/i.test(this.one(name) ?? '')
  }

  files(name: string): readonly FormFile[] {
    return this.#request.files.get(name) ?? []
  }

  /** Fields that begin so, without the beginning. */
  behind(beginning: string): (readonly [name: string, value: string])[] {
    return [...this.#request.fields].flatMap(([name, values]) =>
      name.startsWith(beginning) ? values.map((value) => [name.slice(beginning.length), value] as const) : [],
    )
  }

  get ignored(): readonly string[] {
    return [...this.#request.fields.keys()].filter((name) => !known.has(name) && !knownOptions.has(name) && !/^[hv]:/.test(name))
  }

  /** A field that is a JSON object. */
  object(name: string): Readonly<Record<string, unknown>> {
    const given = this.one(name)
    if (given === undefined) return {}
    const fault = (message: string) => invalid([{ path: name, message }])
    if (given.length > maxJson) throw fault(`at most ${String(maxJson)} characters`)
    try {
      const value: unknown = JSON.parse(given)
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
    } catch {
      // said below
    }
    throw fault('must be a JSON object')
  }
}

const names = {
  ...{ reply_to: 'h:Reply-To', headers: 'h:', attachments: 'attachment', send_at: 'o:deliverytime' },
  ...{ template_id: 'template', template_slug: 'template', template_vars: 't:variables', template_version: 't:version' },
}

/** With variables of the recipients, each gets a message of their own. */
function messagesOf(form: Form): readonly DialectMessage[] {
  const variables = form.object('recipient-variables')
  const to = mailboxList(form.all('to'))
  if (Object.keys(variables).length === 0) return [messageOf(form, to, undefined)]
  if (to.length > maxRecipients) throw invalid([{ path: 'to', message: `at most ${String(maxRecipients)} recipients with variables` }])
  const byAddress = new Map(Object.entries(variables).map(([address, values]) => [address.toLowerCase(), values]))
  return to.map((one) => {
    const address = parseMailbox(one)?.address ?? one
    return messageOf(form, [one], { address, values: byAddress.get(address.toLowerCase()) ?? {} })
  })
}

interface Recipient {
  readonly address: string
  readonly values: unknown
}

function messageOf(form: Form, to: readonly string[], recipient: Recipient | undefined): DialectMessage {
  return {
    names,
    fields: () => fieldsOf(form, to, recipient),
    labels: labelsOf(form),
    ...(form.is('o:testmode') && { isTest: true }),
  }
}

function fieldsOf(form: Form, to: readonly string[], recipient: Recipient | undefined): Fields {
  if (form.one('amp-html')) throw invalid([{ path: 'amp-html', message: 'has no counterpart here; leave it out' }])
  const isReplyTo = (name: string): boolean => name.toLowerCase() === 'reply-to'
  const headers = form.behind('h:').filter(([name]) => name.toLowerCase() !== 'x-mailgun-variables')
  const bodies = { subject: form.one('subject'), text: form.one('text'), html: form.one('html') }
  const values = recipient && typeof recipient.values === 'object' ? ((recipient.values ?? {}) as Readonly<Record<string, unknown>>) : {}
  const valueOf = (name: string) => (name ? textOf(Object.hasOwn(values, name) ? values[name] : undefined) : recipient?.address)
  const variables = { ...form.object('h:X-Mailgun-Variables'), ...form.object('t:variables'), ...values }
  const replyTo = headers.find(([name]) => isReplyTo(name))?.[1]
  const version = form.one('t:version')
  return {
    ...{ from: form.one('from'), to, cc: mailboxList(form.all('cc')), bcc: mailboxList(form.all('bcc')) },
    reply_to: replyTo === undefined ? undefined : mailboxList(replyTo),
    ...(recipient ? filledIn(bodies, recipientVariable, valueOf) : bodies),
    headers: headerFields(
      headers.filter(([name]) => !isReplyTo(name)),
      'h:',
    ),
    attachments: [
      ...form.files('attachment').map(({ name, content }) => ({ filename: name, content })),
      ...form.files('inline').map(({ name, content }) => ({ filename: name, content, content_id: name, disposition: 'inline' })),
    ],
    ...templateFields(form.one('template'), variables),
    ...(version !== undefined && /^\d{1,9}$/.test(version) && { template_version: Number(version) }),
    send_at: timeOfText(form.one('o:deliverytime')),
    ...trackingOf(form),
  }
}

const trackingOf = (form: Form): Fields => ({
  ...((form.is('o:tracking-clicks') || (form.is('o:tracking') && !form.one('o:tracking-clicks'))) && { click_tracking_enabled: true }),
  ...((form.is('o:tracking-opens') || (form.is('o:tracking') && !form.one('o:tracking-opens'))) && { open_tracking_enabled: true }),
})

const textOf = (value: unknown): string | undefined => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined)

function labelsOf(form: Form): Labelled {
  const { tags, metadata, left } = labelled(
    tagsAt('o:tag', form.all('o:tag')),
    form.behind('v:').map(([name, value]) => [`v:${name.slice(0, 64)}`, name, value] as const),
  )
  return { tags, metadata, left: [...form.ignored.map((name) => name.slice(0, 64)), ...left] }
}

/** Parts that would change a message that comes whole. */
const ofParts = ['cc', 'bcc', 'text', 'html', 'amp-html', 'template', 't:variables', 'recipient-variables', 'attachment', 'inline'] as const

function wholeMessageOf(form: Form): DialectMessage {
  const { left, ...labels } = labelsOf(form)
  return {
    isWhole: true,
    names: { mime: 'message', send_at: 'o:deliverytime' },
    fields() {
      const header = form.behind('h:').map(([name]) => `h:${name}`)
      const beside = [...ofParts.filter((name) => form.one(name) ?? form.files(name)[0]), ...header]
      if (beside.length > 0)
        throw invalid(beside.slice(0, 20).map((path) => ({ path, message: 'stands in `message` itself, and `to` has every recipient' })))
      const [file] = form.files('message')
      const text = form.one('message')
      if (!file && text === undefined) throw invalid([{ path: 'message', message: 'is required' }])
      return {
        mime: file ? { base64: file.content } : Buffer.from(text ?? ''),
        to: mailboxList(form.all('to')),
        send_at: timeOfText(form.one('o:deliverytime')),
        ...trackingOf(form),
      }
    },
    labels: { ...labels, left: [...left.filter((name) => name !== 'message'), ...['from', 'subject'].filter((name) => form.one(name))] },
    ...(form.is('o:testmode') && { isTest: true }),
  }
}

const sendTo = (address: string, operationId: string, messages: (form: Form) => readonly DialectMessage[]) =>
  dialectSend({
    ...{ operationId, path: `/v3/{domain}/${address}`, params: z.strictObject({ domain: z.string().max(253) }), form: true },
    body: z.custom<FormRequest>(),
    translate: (given) => ({ messages: messages(new Form(given)), isStrict: true }),
    answer(sent, _, publicHost) {
      const [first] = accepted(sent)
      return answer({ id: `<${first?.traceId ?? ''}@${publicHost}>`, message: 'Queued. Thank you.' }, {})
    },
  })

export const mailgun: Dialect = {
  name: 'Mailgun',
  sends: [sendTo('messages', 'sendByMailgun', messagesOf), sendTo('messages.mime', 'sendMimeByMailgun', (form) => [wholeMessageOf(form)])],
  // their client takes a field `error` for the message, so that ours is not beside it
  refused: (refusal: Refusal) =>
    answer(
      { message: refusal.message, code: refusal.code, next_action: refusal.nextAction },
      { status: refusals[refusal.code].http, headers: retryHeaders(refusal) },
    ),
}
