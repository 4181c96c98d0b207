/** Converts one Stalwart event, from a webhook or a log line, to a feedback event. Based on the source of versions 0.12 to 0.16. */
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { eventKey, feedbackEvent, mailbox, replyIn, statusFor, type Reply } from '../../events/feedback-event.ts'
import { canonical, objectIn, textIn, textOrNumberIn, type JsonObject } from '../../events/json-value.ts'
import { zonedTime } from '../shipped-record.ts'

/** The result for one event: a feedback event, nothing relevant, or the reason why it is invalid. */
export type Outcome =
  { readonly event: FeedbackEvent; readonly domains: readonly string[] } | { readonly event: null; readonly reason: string | null }

export const notOurs: Outcome = { event: null, reason: null }
export const refused = (reason: string): Outcome => ({ event: null, reason })

type Meaning = Pick<FeedbackEvent, 'type' | 'action'>

const delivered: Meaning = { type: 'delivered', action: 'delivered' }
/** Refusals within an attempt are ignored, because `dsn-perm-fail` or `dsn-temp-fail` follows with the outcome. */
const deliveries: ReadonlyMap<string, Meaning> = new Map([
  ['delivery.delivered', delivered],
  ['delivery.dsn-success', delivered],
  ['delivery.dsn-perm-fail', { type: 'bounced', action: 'failed' }],
  ['delivery.dsn-temp-fail', { type: 'deferred', action: 'delayed' }],
])
/** Feedback types (RFC 5965 §7.3) by Stalwart's names. */
const complaints: ReadonlyMap<string, string> = new Map([
  ['incoming-report.abuse-report', 'abuse'],
  ['incoming-report.fraud-report', 'fraud'],
  ['incoming-report.virus-report', 'virus'],
  ['incoming-report.other-report', 'other'],
])
const maxDomains = 100

/** Reports whether events of this type are processed. */
export const concernsUs = (type: string): boolean => deliveries.has(type) || complaints.has(type)

/** Reads an event in the webhook's form, `{type, createdAt, data}`. */
export function readStalwartEvent(given: unknown): Outcome {
  const outer = objectIn(given)
  const kind = textIn(outer?.['type'])
  if (!outer || kind === null) return refused('is not a Stalwart event: it has no type')
  const meaning = deliveries.get(kind)
  const complaint = complaints.get(kind)
  if (!meaning && complaint === undefined) return notOurs
  const data = objectIn(outer['data'])
  if (!data) return refused('is not a Stalwart event: it has no data')
  const createdAt = textIn(outer['createdAt']) ?? ''
  const at = zonedTime(createdAt)
  const shared = { format: 'stalwart', key: keyOf(kind, at, createdAt, data), occurredAt: at } as const
  if (meaning) return { event: delivery({ ...shared, ...meaning }, data), domains: [] }
  const { details, hostname, remoteIp } = texts(data)
  const event = feedbackEvent({
    ...shared,
    type: 'complained',
    action: 'complaint',
    diagnostic: details,
    reportingMta: hostname,
    remoteIp,
    feedbackType: complaint ?? null,
  })
  return { event, domains: domainsIn(data['domain']) }
}

/**
 * A retry repeats everything except the ID, and a log line repeats the webhook, so the key does not include the ID. Numbers and strings
 * with the same digits are equal.
 */
function keyOf(kind: string, at: number | null, createdAt: string, data: JsonObject): string {
  const { queueId, to, hostname, details, code, domain, remoteIp } = data
  const seconds = at === null ? createdAt : Math.floor(at / 1000)
  // complaints name neither message nor recipient, so their domain and IP address distinguish them
  const values = [queueId, to, hostname, details, code, ...(complaints.has(kind) ? [domain, remoteIp] : [])]
  const pieces = values.map((value) => (value == null ? null : (textOrNumberIn(value) ?? canonical(value))))
  return eventKey(['stalwart.v1', kind, seconds, ...pieces])
}

function delivery(known: Pick<FeedbackEvent, 'format' | 'key' | 'occurredAt' | 'type' | 'action'>, data: JsonObject): FeedbackEvent {
  const { details, hostname } = texts(data)
  const reply = replyOf(details ?? '', Number(textOrNumberIn(data['code']) ?? NaN), known.type)
  const from = mailbox(textIn(data['from']))
  return feedbackEvent({
    ...known,
    action: known.type === 'delivered' && isElsewhere(hostname) ? 'relayed' : known.action,
    recipient: recipientIn(data['to']),
    remoteMta: hostname,
    ...reply,
    clues: { returnPaths: from === null ? [] : [from], queueIds: queueIds(textOrNumberIn(data['queueId'])) },
  })
}

/** Stalwart's SMTP reply contains the queue ID in hexadecimal, its events contain it in decimal. */
function queueIds(id: string | null): readonly string[] {
  return id !== null && /^\d{1,20}$/.test(id) ? [BigInt(id).toString(16), id] : []
}

const isElsewhere = (hostname: string | null): boolean => hostname !== null && hostname !== 'localhost'

/** The event's own `to` is one address. A list is the envelope's, and identifies the recipient only if it has one entry. */
function recipientIn(to: unknown): string | null {
  const list: readonly unknown[] = Array.isArray(to) ? to : [to]
  return list.length === 1 ? mailbox(textIn(list[0])) : null
}

function domainsIn(given: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  return list.filter((domain) => typeof domain === 'string' && domain !== '' && domain.length <= 253).slice(0, maxDomains) as string[]
}

interface Texts {
  readonly details: string | null
  readonly hostname: string | null
  readonly remoteIp: string | null
}

const texts = (data: JsonObject): Texts => ({
  details: detailsIn(data['details']),
  hostname: textIn(data['hostname']),
  remoteIp: textIn(data['remoteIp']),
})

/** `details` is a string, an array of strings, or in older versions an object `{type, text, data}`. */
function detailsIn(given: unknown): string | null {
  if (Array.isArray(given)) return given.filter((entry) => typeof entry === 'string').join('; ') || null
  const nested = objectIn(given)
  if (!nested) return textOrNumberIn(given)
  const data = objectIn(nested['data']) ?? {}
  const reply = joined([data['code'], data['details'] ?? data['reason']], ' ')
  return joined([nested['text'], data['domain'] ?? data['hostname'], reply], ': ') || null
}

const joined = (values: readonly unknown[], separator: string): string => values.map(textOrNumberIn).filter(Boolean).join(separator)

const quoted = /Code: (\d{3}), Enhanced code: (\d\.\d{1,3}\.\d{1,3}), Message: ([^]*)$/
/** Causes that stopped an attempt before any reply, by their first words, with RFC 3463 subject and detail. */
const causes: readonly (readonly [RegExp, string])[] = [
  [/^DNS (?:lookup|record)/i, '4.4'],
  [/^Connection/i, '4.1'],
  [/^(?:TLS|DANE|MTA-STS)/i, '7.5'],
  [/^(?:Rate|Concurrency) limited/i, '4.5'],
  [/^Queue/i, '3.0'],
]

/** Extracts codes and the remote server's reply from `details`. `code` is the separate field of older versions and of successes. */
function replyOf(details: string, code: number, type: FeedbackEvent['type']): Reply & Pick<FeedbackEvent, 'diagnostic'> {
  const [, digits, enhanced, message = ''] = quoted.exec(details) ?? []
  if (digits !== undefined && enhanced !== undefined) {
    const smtpCode = Number(digits)
    const isSent = !enhanced.startsWith('0')
    const status = isSent ? enhanced : (replyIn(message).status ?? statusFor(smtpCode, message))
    return { smtpCode, status, diagnostic: [digits, ...(isSent ? [enhanced] : []), message].join(' ') }
  }
  const found = replyIn(details)
  const smtpCode = code >= 200 && code <= 599 ? code : found.smtpCode
  if (smtpCode !== null) {
    const diagnostic = found.smtpCode === smtpCode ? details : `${String(smtpCode)} ${details}`
    return { smtpCode, status: found.status ?? statusFor(smtpCode, details), diagnostic }
  }
  const cause = causes.find(([pattern]) => pattern.test(details))?.[1] ?? '0.0'
  const derived = type === 'delivered' ? '2.0.0' : `${type === 'bounced' ? '5' : '4'}.${cause}`
  return { smtpCode, status: found.status ?? derived, diagnostic: details }
}
