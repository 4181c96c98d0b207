/**
 * SparkPost: `POST /api/v1/transmissions`. Each recipient gets a separate message. A copy belongs to the message of the recipient that it
 * shows.
 */
import * as z from 'zod'
import { parseMailbox } from '#core/addresses.ts'
import { invalid, Refusal, refusals } from '#core/refusals.ts'
import type { Acceptance } from '#core/submission/submission.ts'
import { answer } from '../../operation/answer.ts'
import { dialectSend, type Dialect, type DialectMessage, type Fields, type Sent } from '../dialect.ts'
import { errorAnswer, vendorCode, type VendorCodes } from '../error-body.ts'
import { mailboxList } from '../body/mailbox-list.ts'
import { sparkpostCalls } from '../calls/sparkpost-calls.ts'
import { labelled, metadataAt, tagsAt } from '../body/labels.ts'
import { anyMap, flag, mailboxOf, refused, templateName, text, textMap, timeOfText } from '../body/reading.ts'
import { filledIn, filledLine, mustache, valueAt, type Bodies } from '../body/substitution.ts'
import { templateFields } from '../body/templates.ts'

const address = z.union([
  z.string().transform((email) => ({ email, name: undefined, header_to: undefined })),
  z.looseObject({ email: z.string(), name: text, header_to: text }),
])
const recipient = z.looseObject({ address, substitution_data: anyMap, metadata: anyMap, tags: z.array(z.string()).nullish() })
const file = z.looseObject({ name: text, type: text, data: text })
const maxRecipients = 1000

const body = z.looseObject({
  recipients: z.array(recipient, 'must be a list of recipients; stored recipient lists have no counterpart here').min(1).max(maxRecipients),
  content: z.looseObject({
    from: z.union([z.string(), z.looseObject({ email: z.string(), name: text })]).nullish(),
    ...{ subject: text, reply_to: text, headers: textMap, text, html: text },
    ...{ attachments: z.array(file).nullish(), inline_images: z.array(file).nullish() },
    template_id: templateName,
    email_rfc822: text,
    amp_html: refused('leave it out'),
    ab_test_id: refused('name a template'),
    use_draft_template: refused('publish the template'),
  }),
  ...{ substitution_data: anyMap, metadata: anyMap, campaign_id: text },
  options: z
    .looseObject({
      ...{ open_tracking: flag, click_tracking: flag, sandbox: flag, start_time: text, perform_substitutions: flag },
      inline_css: refused('inline the styles in the HTML'),
    })
    .nullish(),
})

type Body = z.output<typeof body>
type Recipient = z.output<typeof recipient>

/** Recipients of one message: primary recipients and recipients of copies. */
interface Group {
  readonly to: number[]
  readonly copies: number[]
}

const folded = (email: string): string => email.toLowerCase()
/** Limit of recipients in a message. */
const maxShown = 100

/** Returns the recipients that a copy shows; empty if the recipient is not a copy. */
function shownIn({ address: { email, header_to: header } }: Recipient, i: number): readonly string[] {
  const all = mailboxList(header)
  if (all.length > maxShown) throw invalid([{ path: headerPath(i), message: `at most ${String(maxShown)} addresses` }])
  const emails = all.map((one) => folded(parseMailbox(one)?.address ?? one))
  return emails.length === 1 && emails[0] === folded(email) ? [] : emails
}

const headerPath = (i: number): string => `recipients[${String(i)}].address.header_to`

/** Groups recipients by message. Throws `validation_failed` for a copy that shows an address outside of this transmission. */
function groupsOf(recipients: readonly Recipient[]): readonly Group[] {
  const groups = new Map<number, Group>()
  const groupAt = new Map<string, number>()
  const shown = recipients.map(shownIn)
  for (const [i, { address: own }] of recipients.entries()) {
    if (shown[i]?.length) continue
    groups.set(i, { to: [i], copies: [] })
    groupAt.set(folded(own.email), i)
  }
  for (const [i, emails] of shown.entries()) {
    const [first] = emails
    if (first === undefined) continue
    for (const email of emails) {
      const [into, from] = [groupAt.get(first), groupAt.get(email)]
      if (into === undefined || from === undefined)
        throw invalid([{ path: headerPath(i), message: 'must name recipients of this transmission' }])
      if (into !== from) merge(recipients, groups, groupAt, into, from)
    }
    groups.get(groupAt.get(first) ?? -1)?.copies.push(i)
  }
  return [...groups.values()]
}

/** Merges two groups, since a copy shows both together. */
function merge(
  recipients: readonly Recipient[],
  groups: Map<number, Group>,
  groupAt: Map<string, number>,
  into: number,
  from: number,
): void {
  const [kept, gone] = [groups.get(into), groups.get(from)]
  if (!kept || !gone) return
  kept.to.push(...gone.to)
  kept.copies.push(...gone.copies)
  groups.delete(from)
  for (const i of gone.to) groupAt.set(folded(recipients[i]?.address.email ?? ''), into)
}

const hasVariables = ({ substitution_data: own }: Recipient): boolean => Object.keys(own ?? {}).length > 0

const names = {
  ...{ from: 'content.from', subject: 'content.subject', text: 'content.text', html: 'content.html', reply_to: 'content.reply_to' },
  ...{ headers: 'content.headers', attachments: 'content.attachments', send_at: 'options.start_time', mime: 'content.email_rfc822' },
  ...{ template_slug: 'content.template_id', cc: 'recipients', bcc: 'recipients', template_vars: 'substitution_data' },
}

const namesOf = (first: number): DialectMessage['names'] => ({ ...names, to: `recipients[${String(first)}].address` })

/** Returns the properties of a message other than its content. */
function sharedOf({ campaign_id: campaign, metadata, options }: Body, own: Recipient | undefined, first: number) {
  const at = `recipients[${String(first)}]`
  const tags = [...(campaign ? [['campaign_id', campaign] as const] : []), ...tagsAt(`${at}.tags`, own?.tags)]
  return {
    labels: labelled(tags, [...metadataAt('metadata', metadata), ...metadataAt(`${at}.metadata`, own?.metadata)]),
    ...(options?.sandbox && { isTest: true }),
  }
}

const timingOf = ({ options }: Body): Fields => ({
  send_at: timeOfText(options?.start_time),
  ...(options?.click_tracking && { click_tracking_enabled: true }),
  ...(options?.open_tracking && { open_tracking_enabled: true }),
})

const inMime = ['from', 'subject', 'reply_to', 'headers', 'text', 'html', 'attachments', 'inline_images', 'template_id'] as const

/** Returns a whole message for one recipient. Its header stays the same for every recipient. */
function wholeMessageOf(given: Body, own: Recipient, i: number): DialectMessage {
  const { content, options } = given
  return {
    ...{ isWhole: true, names: namesOf(i), own: [own] },
    fields() {
      const beside = inMime.filter((name) => Object.keys(content[name] ?? {}).length > 0)
      const isLiteral = options?.perform_substitutions === false
      const hasValues = !isLiteral && Object.keys({ ...given.substitution_data, ...own.substitution_data }).length > 0
      const problems = beside.map((name) => ({ path: `content.${name}`, message: 'is part of email_rfc822; leave it out' }))
      if (hasValues) problems.push({ path: 'substitution_data', message: 'has no effect on email_rfc822; put the values into the message' })
      if (problems.length > 0) throw invalid(problems)
      return { mime: Buffer.from(content.email_rfc822 ?? ''), to: [own.address.email], ...timingOf(given) }
    },
    ...sharedOf(given, own, i),
  }
}

/** Returns the header fields without Cc. */
const withoutCc = (fields: Readonly<Record<string, string>> | null | undefined) =>
  Object.entries(fields ?? {}).filter(([name]) => name.toLowerCase() !== 'cc')

/** Display names by address, empty if missing. A text that is not an address is its own key. */
type Names = ReadonlyMap<string, string>

function namesIn(list: readonly string[]): Names {
  const names = new Map<string, string>()
  for (const one of list) {
    const { address: email = one, name = '' } = parseMailbox(one) ?? {}
    const key = folded(email)
    names.set(key, name || (names.get(key) ?? ''))
  }
  return names
}

/** Returns the recipients of copies in the header, with their names. */
const copiesIn = ({ content }: Body): Names =>
  namesIn(Object.entries(content.headers ?? {}).flatMap(([name, value]) => (name.toLowerCase() === 'cc' ? mailboxList(value) : [])))

/** Returns a recipient with its own name. Otherwise uses the name in its `header_to`, in that of a copy, or in the header. */
function mailboxAt({ recipients }: Body, i: number, shown: Names) {
  const { email = '', name } = recipients[i]?.address ?? {}
  return mailboxOf({ email, name: name || shown.get(folded(email)) })
}

function messageOf(given: Body, copied: Names, { to, copies }: Group): DialectMessage {
  const { content, recipients, options } = given
  const [first = 0] = to
  const isNamed = (i: number): boolean => copied.has(folded(recipients[i]?.address.email ?? ''))
  const own = recipients[first]
  const isLiteral = options?.perform_substitutions === false
  const bodies: Bodies = { subject: content.subject, text: content.text, html: content.html }
  return {
    names: namesOf(first),
    own: [...to, ...copies].map((i) => recipients[i]),
    fields() {
      const variables = () => ({ ...given.substitution_data, ...own?.substitution_data })
      const values = isLiteral ? {} : variables()
      const valueOf = (name: string) => valueAt(values, name)
      const line = <T extends string | null | undefined>(path: string, value: T) =>
        isLiteral ? value : filledLine(path, value, mustache, valueOf)
      const shared = to.find((i) => i !== first && recipients[i] && hasVariables(recipients[i]))
      if (shared !== undefined)
        throw invalid([
          {
            path: `recipients[${String(shared)}].substitution_data`,
            message: 'belongs to a message that shows several recipients; send it separately',
          },
        ])
      const sender = typeof content.from === 'string' ? { email: content.from, name: undefined } : content.from
      const replyTo = line('reply_to', content.reply_to)
      const shown = namesIn([...copies, ...to].flatMap((i) => mailboxList(recipients[i]?.address.header_to)))
      return {
        from: sender && (sender.name ? mailboxOf({ email: sender.email, name: line('from', sender.name) }) : line('from', sender.email)),
        ...{ to: to.map((i) => mailboxAt(given, i, shown)), reply_to: replyTo ? mailboxList(replyTo) : undefined },
        cc: copies.filter(isNamed).map((i) => mailboxAt(given, i, copied)),
        bcc: copies.filter((i) => !isNamed(i)).map((i) => mailboxAt(given, i, copied)),
        ...(isLiteral ? bodies : filledIn(bodies, mustache, valueOf)),
        headers: Object.fromEntries(withoutCc(content.headers).map(([name, value]) => [name, line(`headers.${name}`, value)])),
        attachments: [
          ...(content.attachments ?? []).map(({ name, type, data }) => ({ filename: name, content_type: type, content: data })),
          ...(content.inline_images ?? []).map(({ name, type, data }) => ({
            ...{ filename: name, content_type: type, content: data, content_id: name, disposition: 'inline' },
          })),
        ],
        ...templateFields(content.template_id, variables),
        ...timingOf(given),
      }
    },
    ...sharedOf(given, own, first),
  }
}

const codes: VendorCodes<string> = {
  validation_failed: '1300',
  not_found: '1600',
  rate_limit_exceeded: '1200',
  sender_not_allowed: '7001',
  else: '1400',
}

/** Returns results by recipient: refused messages do not affect the others. Throws if no message was accepted. */
function resultsOf(sent: Sent, { recipients, content }: Body) {
  const refusal = sent.find((one) => one instanceof Refusal)
  const first = sent.find((one): one is Acceptance => !(one instanceof Refusal))
  if (!first && refusal) throw refusal
  const groups = refusal && typeof content.email_rfc822 !== 'string' ? groupsOf(recipients) : []
  const sizeOf = (i: number): number => (groups[i]?.to.length ?? 1) + (groups[i]?.copies.length ?? 0)
  const rejected = sent.reduce((sum, one, i) => sum + (one instanceof Refusal ? sizeOf(i) : 0), 0)
  return {
    ...(rejected > 0 && { rcpt_to_errors: sent.flatMap((one) => (one instanceof Refusal ? errorsOf(one) : [])).slice(0, maxErrors) }),
    ...{ total_rejected_recipients: rejected, total_accepted_recipients: recipients.length - rejected, id: first?.traceId },
  }
}

/** Limit of errors in a response. */
const maxErrors = 20

function errorsOf(refusal: Refusal) {
  const fields = refusal.details?.['fields'] as readonly { path: string; message: string }[] | undefined
  const code = vendorCode(codes, refusal)
  return (fields ?? [{ path: '', message: refusal.message }]).map(({ path, message }) => ({
    ...{ message: path === '' ? message : `${path}: ${message}`, code, description: refusal.message },
  }))
}

export const sparkpost: Dialect = {
  name: 'SparkPost',
  sends: ['/api/v1/transmissions', '/api/v1/transmissions/'].map((path, i) =>
    dialectSend({
      ...{ operationId: i === 0 ? 'sendBySparkPost' : 'sendBySparkPostWithSlash', path, body },
      translate(given) {
        if (typeof given.content.email_rfc822 === 'string')
          return { messages: given.recipients.map((own, i) => wholeMessageOf(given, own, i)), hasOneId: true }
        const copied = copiesIn(given)
        const messages = groupsOf(given.recipients).map((group) => messageOf(given, copied, group))
        return { messages, hasOneId: true, own: given.recipients }
      },
      answer: (sent, given) => answer({ results: resultsOf(sent, given) }, {}),
    }),
  ),
  calls: sparkpostCalls,
  refused(refusal) {
    const status = refusal.code === 'validation_failed' ? 422 : refusals[refusal.code].http
    return errorAnswer({ errors: errorsOf(refusal) }, refusal, status)
  },
}
