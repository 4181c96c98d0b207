/** SparkPost: `POST /api/v1/transmissions`, where each recipient gets a message of their own, and copies belong to the one they show. */
import * as z from 'zod'
import { parseMailbox } from '#core/addresses.ts'
import { invalid, refusals } from '#core/refusals.ts'
import { answer } from '../../operation/answer.ts'
import { accepted, dialectSend, type Dialect, type DialectMessage } from '../dialect.ts'
import { errorAnswer, wordFor, type Words } from '../error-body.ts'
import { mailboxList } from '../body/mailbox-list.ts'
import { labelled, metadataAt, tagsAt } from '../body/labels.ts'
import { anyMap, flag, mailboxOf, refused, templateName, text, textMap, timeOfText } from '../body/reading.ts'
import { filledIn, mustache, valueAt } from '../body/substitution.ts'
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
    email_rfc822: refused('send such a message over SMTP'),
    amp_html: refused('leave it out'),
    ab_test_id: refused('name a template'),
    use_draft_template: refused('publish the template'),
  }),
  ...{ substitution_data: anyMap, metadata: anyMap, campaign_id: text },
  options: z.looseObject({ open_tracking: flag, click_tracking: flag, sandbox: flag, start_time: text }).nullish(),
})

type Body = z.output<typeof body>
type Recipient = z.output<typeof recipient>

/** Recipients of one message: those whom it is to, and those who get a copy of it. */
interface Group {
  readonly to: number[]
  readonly copies: number[]
}

const folded = (email: string): string => email.toLowerCase()
/** As many as a message can be to. */
const maxShown = 100

/** Whom a copy shows as recipients; empty for what is no copy. */
function shownIn({ address: { email, header_to: header } }: Recipient, i: number): readonly string[] {
  const all = mailboxList(header)
  if (all.length > maxShown) throw invalid([{ path: headerPath(i), message: `at most ${String(maxShown)} addresses` }])
  const emails = all.map((one) => folded(parseMailbox(one)?.address ?? one))
  return emails.length === 1 && emails[0] === folded(email) ? [] : emails
}

const headerPath = (i: number): string => `recipients[${String(i)}].address.header_to`

/** Throws `validation_failed` for a copy of a message that goes to somebody else than is shown. */
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

/** Those who are shown together get one message. */
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

function messageOf(given: Body, { to, copies }: Group): DialectMessage {
  const { content, recipients, options } = given
  const [first = 0] = to
  const named = new Set(
    Object.entries(content.headers ?? {})
      .flatMap(([name, value]) => (name.toLowerCase() === 'cc' ? mailboxList(value) : []))
      .map((one) => folded(parseMailbox(one)?.address ?? one)),
  )
  const at = (i: number) => recipients[i]?.address ?? { email: '' }
  const isNamed = (i: number): boolean => named.has(folded(at(i).email))
  const own = recipients[first]
  const variables = { ...given.substitution_data, ...own?.substitution_data }
  return {
    names: {
      ...{ from: 'content.from', subject: 'content.subject', text: 'content.text', html: 'content.html', reply_to: 'content.reply_to' },
      ...{
        headers: 'content.headers',
        attachments: 'content.attachments',
        send_at: 'options.start_time',
        template_slug: 'content.template_id',
      },
      ...{ to: `recipients[${String(first)}].address`, cc: 'recipients', bcc: 'recipients', template_vars: 'substitution_data' },
    },
    fields() {
      const shared = to.find((i) => i !== first && recipients[i] && hasVariables(recipients[i]))
      if (shared !== undefined)
        throw invalid([
          {
            path: `recipients[${String(shared)}].substitution_data`,
            message: 'belongs to a message that others are shown in; send it separately',
          },
        ])
      const from = typeof content.from === 'string' ? content.from : content.from && mailboxOf(content.from)
      return {
        ...{ from, to: to.map((i) => mailboxOf(at(i))), reply_to: content.reply_to ? mailboxList(content.reply_to) : undefined },
        cc: copies.filter(isNamed).map((i) => mailboxOf(at(i))),
        bcc: copies.filter((i) => !isNamed(i)).map((i) => mailboxOf(at(i))),
        ...filledIn(content, mustache, (name) => valueAt(variables, name)),
        headers: Object.fromEntries(Object.entries(content.headers ?? {}).filter(([name]) => name.toLowerCase() !== 'cc')),
        attachments: [
          ...(content.attachments ?? []).map(({ name, type, data }) => ({ filename: name, content_type: type, content: data })),
          ...(content.inline_images ?? []).map(({ name, type, data }) => ({
            ...{ filename: name, content_type: type, content: data, content_id: name, disposition: 'inline' },
          })),
        ],
        ...templateFields(content.template_id, variables),
        send_at: timeOfText(options?.start_time),
        ...(options?.click_tracking && { click_tracking_enabled: true }),
        ...(options?.open_tracking && { open_tracking_enabled: true }),
      }
    },
    labels: labelled(
      [
        ...(given.campaign_id ? [['campaign_id', given.campaign_id] as const] : []),
        ...tagsAt(`recipients[${String(first)}].tags`, own?.tags),
      ],
      [...metadataAt('metadata', given.metadata), ...metadataAt(`recipients[${String(first)}].metadata`, own?.metadata)],
    ),
    ...(options?.sandbox && { isTest: true }),
  }
}

const codes: Words<string> = {
  validation_failed: '1300',
  not_found: '1600',
  rate_limit_exceeded: '1200',
  sender_not_allowed: '7001',
  else: '1400',
}

export const sparkpost: Dialect = {
  name: 'SparkPost',
  sends: ['/api/v1/transmissions', '/api/v1/transmissions/'].map((path, i) =>
    dialectSend({
      ...{ operationId: i === 0 ? 'sendBySparkPost' : 'sendBySparkPostWithSlash', path, body },
      translate: (given) => ({ messages: groupsOf(given.recipients).map((group) => messageOf(given, group)), isStrict: true }),
      answer(sent, { recipients }) {
        const [first] = accepted(sent)
        return answer({ results: { id: first?.traceId, total_accepted_recipients: recipients.length, total_rejected_recipients: 0 } }, {})
      },
    }),
  ),
  refused(refusal) {
    const status = refusal.code === 'validation_failed' ? 422 : refusals[refusal.code].http
    const fields = refusal.details?.['fields'] as readonly { path: string; message: string }[] | undefined
    const code = wordFor(codes, refusal)
    const list = fields ?? [{ path: '', message: refusal.message }]
    const errors = list.map(({ path, message }) => ({
      message: path === '' ? message : `${path}: ${message}`,
      code,
      description: refusal.message,
    }))
    return errorAnswer({ errors }, refusal, status)
  },
}
