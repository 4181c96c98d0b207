/** Reads the bounce request of the MailEnable agent: events, some with the notice itself for parsing. */
import { hash } from 'node:crypto'
import type { FeedbackEvent, ReportReading } from '#core/feedback/event.ts'
import { eventKey, feedbackEvent, mailbox, replyIn, statusFor } from '../events/feedback-event.ts'
import { objectIn, unreadable, type Unreadable } from '../events/json-value.ts'
import { Fields, readEnvelope, type Agent } from './mailenable-envelope.ts'
import { zonedTime } from '../logs/shipped-record.ts'

const maxEvents = 500
const maxNotice = 4 * 1024 * 1024

/** One valid event of an envelope. */
export interface BounceEntry {
  readonly index: number
  /** The event ID of the agent, or an ID derived from the event. */
  readonly eventId: string
  /** As written. Compare postoffices case-insensitively. */
  readonly postoffice: string
  /** The event according to the fields. Without a recipient, complete it with `entryEvents`. */
  readonly event: FeedbackEvent
  /** The original notice, as input for `readReport`, if the fields contain no recipient. */
  readonly notice: Uint8Array | null
}

export interface InvalidEntry {
  readonly index: number
  readonly eventId: string | null
  readonly reason: string
}

export interface BounceEnvelope {
  readonly agent: Agent
  readonly entries: readonly BounceEntry[]
  readonly invalid: readonly InvalidEntry[]
}

/**
 * Reads an envelope, or one event without an envelope. `sourceId` is the ID of the bounce source; equal events of two sources are different
 * events.
 */
export function readBounceEnvelope(body: Uint8Array, sourceId: string): BounceEnvelope | Unreadable {
  const envelope = readEnvelope(body)
  if ('problems' in envelope) return envelope
  const { fields, agent } = envelope
  const isBare = fields.value('events') === undefined && (fields.value('postoffice') ?? fields.value('recipient')) !== undefined
  const list = isBare ? [Object.fromEntries(bareNames.map((name) => [name, fields.value(name)]))] : fields.list('events')
  if (!list) return unreadable('events', 'must be a list of events')
  if (list.length > maxEvents) return unreadable('events', `must hold at most ${String(maxEvents)} events`)
  const entries: BounceEntry[] = []
  const invalid: InvalidEntry[] = []
  for (const [index, given] of list.entries()) {
    const entry = readEntry(index, given, sourceId)
    if ('reason' in entry) invalid.push(entry)
    else entries.push(entry)
  }
  return { agent, entries, invalid }
}

/** The fields of an event. */
const bareNames = [
  ...['event_id', 'type', 'occurred_at', 'postoffice', 'mailbox', 'message_file', 'message_id', 'sender', 'envelope_from', 'recipient'],
  ...['action', 'status', 'smtp_code', 'diagnostic', 'remote_mta', 'remote_ip', 'me_code', 'raw_ndr'],
]

const actions = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const
const kinds = ['bounce', 'delay', 'complaint'] as const

function readEntry(index: number, given: unknown, sourceId: string): BounceEntry | InvalidEntry {
  const object = objectIn(given)
  if (!object) return { index, eventId: null, reason: 'must be an object' }
  const fields = new Fields(object)
  const values = bounceFields(fields)
  const { postoffice, recipient, rawNotice } = values
  if (postoffice === null) fields.note('postoffice', 'is required')
  if (recipient === null && rawNotice === null) fields.note('recipient', 'is required if raw_ndr is missing')
  const notice = rawNotice === null ? null : Buffer.from(rawNotice, 'base64')
  if (notice?.length === 0) fields.note('raw_ndr', 'must be base64')
  const problem = fields.problems[0]
  if (problem || postoffice === null) return { index, eventId: values.eventId, reason: `${problem?.path ?? ''}: ${problem?.message ?? ''}` }
  const eventId = values.eventId ?? madeId(values, sourceId)
  return {
    index,
    eventId,
    postoffice,
    event: eventOf(values, eventKey(['mailenable.v1', sourceId, eventId])),
    notice: recipient === null ? notice : null,
  }
}

type BounceFields = ReturnType<typeof bounceFields>

const bounceFields = (fields: Fields) => ({
  eventId: fields.text('event_id'),
  kind: fields.oneOf('type', kinds),
  occurredAt: timeIn(fields),
  occurred: fields.text('occurred_at'),
  postoffice: fields.text('postoffice')?.trim() || null,
  file: fields.text('message_file'),
  messageId: fields.text('message_id', 998),
  from: addressIn(fields, 'envelope_from'),
  recipient: addressIn(fields, 'recipient'),
  action: fields.oneOf('action', actions),
  status: statusIn(fields),
  smtpCode: fields.integer('smtp_code', 200, 599),
  diagnostic: fields.text('diagnostic', 65_536),
  remoteMta: fields.text('remote_mta'),
  remoteIp: fields.text('remote_ip'),
  rawNotice: fields.text('raw_ndr', maxNotice),
})

function timeIn(fields: Fields): number | null {
  const text = fields.text('occurred_at')
  if (text === null) return null
  return zonedTime(text) ?? fields.note('occurred_at', 'must be a time with its offset, such as 2026-08-21T12:15:03+02:00')
}

function statusIn(fields: Fields): string | null {
  const text = fields.text('status')
  if (text === null || /^[245]\.\d{1,3}\.\d{1,3}$/.test(text)) return text
  return fields.note('status', 'must be an enhanced status code such as 5.1.1')
}

/** MailEnable writes addresses as `[SMTP:user@domain]`. */
function addressIn(fields: Fields, name: string): string | null {
  const text = fields.text(name, 400)
  if (text === null || text === '<>') return null
  return mailbox(text.trim().replace(/^\[SMTP:(.*)\]$/i, '$1')) ?? fields.note(name, 'must be an e-mail address')
}

function madeId({ file, recipient, occurred, diagnostic, rawNotice }: BounceFields, sourceId: string): string {
  const notice = rawNotice === null ? null : hash('sha256', rawNotice, 'hex')
  return eventKey(['mailenable.event.v1', sourceId, file, recipient, occurred, diagnostic, notice]).slice(0, 32)
}

const meanings = {
  bounce: { type: 'bounced', action: 'failed' },
  delay: { type: 'deferred', action: 'delayed' },
  complaint: { type: 'complained', action: 'complaint' },
} as const satisfies Record<(typeof kinds)[number], Pick<FeedbackEvent, 'type' | 'action'>>

function eventOf(values: BounceFields, key: string): FeedbackEvent {
  const kind = values.kind ?? (values.action === 'delayed' ? 'delay' : 'bounce')
  const reply = replyIn(values.diagnostic ?? '')
  const smtpCode = values.smtpCode ?? reply.smtpCode
  const derived = smtpCode === null ? null : statusFor(smtpCode, values.diagnostic ?? '')
  return feedbackEvent({
    format: 'mailenable',
    ...meanings[kind],
    key,
    occurredAt: values.occurredAt,
    recipient: values.recipient,
    status: kind === 'complaint' ? values.status : (values.status ?? reply.status ?? derived),
    smtpCode,
    diagnostic: values.diagnostic,
    remoteMta: values.remoteMta,
    remoteIp: values.remoteIp,
    feedbackType: kind === 'complaint' ? 'abuse' : null,
    clues: { returnPaths: values.from === null ? [] : [values.from], messageIds: values.messageId === null ? [] : [values.messageId] },
  })
}

/** True if a status has more information than its class. */
const isExact = (status: string | null): boolean => status !== null && !status.endsWith('.0.0')

/**
 * The events of an entry with a parsed notice: the notice's events, where the entry's fields take precedence. If the notice has no events,
 * the result is the entry's event without a recipient.
 */
export function entryEvents({ event }: BounceEntry, { events }: ReportReading): readonly FeedbackEvent[] {
  if (events.length === 0) return [event]
  return events.map((read) => ({
    ...read,
    format: 'mailenable',
    key: eventKey(['mailenable.notice.v1', event.key, read.type, read.recipient]),
    occurredAt: event.occurredAt ?? read.occurredAt,
    status: isExact(event.status) ? event.status : (read.status ?? event.status),
    smtpCode: event.smtpCode ?? read.smtpCode,
    diagnostic: event.diagnostic ?? read.diagnostic,
    remoteMta: event.remoteMta ?? read.remoteMta,
    remoteIp: event.remoteIp ?? read.remoteIp,
    clues: {
      ...read.clues,
      returnPaths: [...new Set([...event.clues.returnPaths, ...read.clues.returnPaths])],
      messageIds: [...new Set([...event.clues.messageIds, ...read.clues.messageIds])],
    },
  }))
}
