/** Forms of the lists that each service exports: the fields that identify a list, and the meaning of its rows. */
import type { MovedKind, MovedRow } from '#core/moving/moved-row.ts'
import { isYes, textOf, type Values } from './export-fields.ts'

/** Names of the services, as in requests. */
export const services = ['resend', 'sendgrid', 'postmark', 'mailgun', 'brevo', 'mailersend', 'sparkpost', 'mailjet', 'ses'] as const
export type Service = (typeof services)[number]

export const serviceNames: Readonly<Record<Service, string>> = {
  ...{ resend: 'Resend', sendgrid: 'SendGrid', postmark: 'Postmark', mailgun: 'Mailgun', brevo: 'Brevo', mailersend: 'MailerSend' },
  ...{ sparkpost: 'SparkPost', mailjet: 'Mailjet', ses: 'Amazon SES' },
}

/** The meaning of a row for its address. */
export interface Said extends Partial<Pick<MovedRow, 'from' | 'skipped'>> {
  readonly kind: MovedKind
  /** The reason, as the service states it. */
  readonly reason?: string | undefined
}

export interface ExportShape {
  readonly service: Service
  /** Fields that every row of this form has. */
  readonly fields: readonly string[]
  /** The field with the address. */
  readonly address: string
  readonly read: (values: Values) => Said
  /** Several lists of the service have the same fields. The file name decides. */
  readonly isOpen?: true
}

const word = (values: Values, name: string): string => textOf(values.get(name)) ?? ''
/** Joins the values of the given fields, without missing fields. */
const joined = (values: Values, ...names: readonly string[]): string =>
  names.flatMap((name) => textOf(values.get(name), 400) ?? []).join(' ')

type Meanings = Readonly<Record<string, MovedKind>>

/** Maps a word of the service to a kind. A row with an unknown word is skipped. */
function byKindName(values: Values, name: string, meanings: Meanings, reason: string): Said {
  const said = word(values, name)
  const kind = Object.entries(meanings).find(([one]) => one.toLowerCase() === said.toLowerCase())?.[1]
  return kind
    ? { kind, reason }
    : { kind: 'manual', skipped: said === '' ? `its ${name} is empty` : `its ${name} is ${said.slice(0, 40)}, which blocks no mail` }
}

/** Reads a flag that excludes a contact from lists only; the contact still receives other mail. */
const flagged = (isSet: boolean, reason: string): Said =>
  isSet ? { kind: 'unsubscribes', from: 'lists', reason } : { kind: 'unsubscribes', skipped: 'the contact is not blocked or unsubscribed' }

const always =
  (kind: MovedKind, ...names: readonly string[]) =>
  (values: Values): Said => ({ kind, reason: joined(values, ...names) })

const postmarkReasons = { HardBounce: 'bounces', SpamComplaint: 'complaints', ManualSuppression: 'manual' } as const
const postmarkTypes: Meanings = {
  HardBounce: 'bounces',
  BadEmailAddress: 'invalid',
  SpamComplaint: 'complaints',
  SpamNotification: 'complaints',
  ManuallyDeactivated: 'manual',
  Unsubscribe: 'unsubscribes',
  AddressChange: 'bounces',
}
const brevoReasons: Meanings = {
  hardBounce: 'bounces',
  contactFlaggedAsSpam: 'complaints',
  adminBlocked: 'manual',
  unsubscribedViaMA: 'unsubscribes',
  unsubscribedViaEmail: 'unsubscribes',
  unsubscribedViaApi: 'unsubscribes',
}
const sparkpostSources: Meanings = {
  'Spam Complaint': 'complaints',
  'List Unsubscribe': 'unsubscribes',
  'Unsubscribe Link': 'unsubscribes',
  'Bounce Rule': 'bounces',
  'Manually Added': 'manual',
  Compliance: 'complaints',
  '': 'manual',
}
const mailjetStatuses = { bounce: 'bounces', hardbounced: 'bounces', spam: 'complaints', unsub: 'unsubscribes' } as const

function readPostmark(values: Values): Said {
  const said = byKindName(values, 'suppressionreason', postmarkReasons, joined(values, 'suppressionreason', 'origin'))
  return said.kind === 'manual' && word(values, 'origin') === 'Recipient' ? { ...said, kind: 'unsubscribes' } : said
}

/** An unsubscribe for non-transactional mail only becomes an unsubscribe from lists: transactional mail is still sent. */
function readSparkPost(values: Values): Said {
  const said = byKindName(values, 'source', sparkpostSources, joined(values, 'source', 'description'))
  const isPart =
    word(values, 'type') === 'non_transactional' || (isYes(values.get('nontransactional')) && !isYes(values.get('transactional')))
  return said.kind === 'unsubscribes' && isPart ? { ...said, from: 'lists' } : said
}

function readMailgunTags(values: Values): Said {
  const given = values.get('tags')
  const tags = (Array.isArray(given) ? given : (textOf(given) ?? '').split(/[,|]/)).flatMap(
    (tag) => textOf(tag)?.replaceAll(/["[\]]/g, '') ?? [],
  )
  const [tag = '*'] = tags
  if (tags.length > 1) return { kind: 'unsubscribes', reason: 'unsubscribed from several tags' }
  return { kind: 'unsubscribes', reason: 'unsubscribed', from: tag === '*' ? 'all' : { list: tag } }
}

const readMailerSend = (values: Values): Said => {
  if (values.has('onholduntil')) return { kind: 'blocks', skipped: 'the address is on hold temporarily' }
  if (values.has('readablereason')) return { kind: 'unsubscribes', reason: joined(values, 'readablereason') }
  return values.has('reason') ? { kind: 'bounces', reason: joined(values, 'reason') } : { kind: 'complaints' }
}

/** The first form whose fields all exist applies, so forms with more fields come first. */
export const shapes: readonly ExportShape[] = [
  { service: 'postmark', fields: ['emailaddress', 'suppressionreason'], address: 'emailaddress', read: readPostmark },
  {
    ...{ service: 'postmark', fields: ['email', 'type', 'inactive', 'bouncedat'], address: 'email' },
    read: (values) =>
      isYes(values.get('inactive'))
        ? byKindName(values, 'type', postmarkTypes, joined(values, 'type', 'details'))
        : { kind: 'bounces', skipped: 'the service still sends to the address' },
  },
  {
    ...{ service: 'ses', fields: ['emailaddress', 'reason'], address: 'emailaddress' },
    read: (values) => byKindName(values, 'reason', { BOUNCE: 'bounces', COMPLAINT: 'complaints' }, joined(values, 'reason')),
  },
  { service: 'mailgun', fields: ['address', 'error'], address: 'address', read: always('bounces', 'code', 'error') },
  { service: 'mailgun', fields: ['address', 'tags'], address: 'address', read: readMailgunTags },
  { service: 'mailgun', fields: ['address', 'domain'], address: 'address', read: always('allowed') },
  { service: 'mailgun', fields: ['type', 'value', 'createdat'], address: 'value', read: always('allowed') },
  { service: 'mailgun', fields: ['address', 'createdat'], address: 'address', read: always('complaints') },
  {
    ...{ service: 'brevo', fields: ['email', 'blockedat'], address: 'email' },
    read: (values) => {
      const name = values.has('reason.code') ? 'reason.code' : 'reason'
      return byKindName(values, name, brevoReasons, joined(values, name, 'reason.message'))
    },
  },
  {
    ...{ service: 'brevo', fields: ['email', 'emailblacklisted'], address: 'email' },
    read: (values) => flagged(isYes(values.get('emailblacklisted')), 'blocklisted contact'),
  },
  { service: 'mailersend', fields: ['recipient.email'], address: 'recipient.email', read: readMailerSend, isOpen: true },
  {
    ...{ service: 'mailersend', fields: ['type', 'pattern'], address: 'pattern' },
    read: (values) =>
      word(values, 'type') === 'pattern' || word(values, 'pattern').includes('*')
        ? { kind: 'manual', skipped: 'it is a pattern; suppressions are single addresses' }
        : { kind: 'manual', reason: 'blocklist' },
  },
  { service: 'sparkpost', fields: ['recipient', 'type'], address: 'recipient', read: readSparkPost },
  { service: 'sparkpost', fields: ['recipient', 'nontransactional'], address: 'recipient', read: readSparkPost },
  {
    ...{ service: 'resend', fields: ['email', 'origin'], address: 'email' },
    read: (values) =>
      byKindName(values, 'origin', { bounce: 'bounces', complaint: 'complaints', manual: 'manual' }, joined(values, 'origin')),
  },
  {
    ...{ service: 'resend', fields: ['email', 'unsubscribed'], address: 'email' },
    read: (values) => flagged(isYes(values.get('unsubscribed')), 'unsubscribed contact'),
  },
  {
    ...{ service: 'mailjet', fields: ['email', 'isexcludedfromcampaigns'], address: 'email' },
    read: (values) =>
      isYes(values.get('isspamcomplaining'))
        ? { kind: 'complaints' }
        : flagged(isYes(values.get('isexcludedfromcampaigns')), 'excluded from campaigns'),
  },
  {
    ...{ service: 'mailjet', fields: ['contactalt', 'status'], address: 'contactalt' },
    read: (values) => byKindName(values, 'status', mailjetStatuses, joined(values, 'status')),
  },
  {
    ...{ service: 'sendgrid', fields: ['email', 'created', 'status', 'reason'], address: 'email', isOpen: true },
    read: (values) => ({ kind: word(values, 'status').startsWith('4') ? 'blocks' : 'bounces', reason: joined(values, 'status', 'reason') }),
  },
  { service: 'sendgrid', fields: ['email', 'created', 'reason'], address: 'email', read: always('invalid', 'reason') },
  { service: 'sendgrid', fields: ['email', 'created', 'ip'], address: 'email', read: always('complaints') },
  { service: 'sendgrid', fields: ['email', 'created'], address: 'email', read: always('unsubscribes'), isOpen: true },
]

/** Field names for the address and for the reason in lists of unknown form. */
export const addressNames = [
  'email',
  'emailaddress',
  'address',
  'recipient',
  'recipientemail',
  'mail',
  'contact',
  'contactemail',
  'subscriber',
]
export const reasonNames = ['reason', 'suppressionreason', 'error', 'description', 'status', 'type', 'source']

/** Patterns of names that show the content of a file or list. */
export const kindPatterns: readonly (readonly [RegExp, MovedKind])[] = [
  [/allow|white/, 'allowed'],
  [/unsub|opt-?out/, 'unsubscribes'],
  [/bounce/, 'bounces'],
  [/complain|spam/, 'complaints'],
  [/invalid/, 'invalid'],
  [/blocks|blocked_emails/, 'blocks'],
]
