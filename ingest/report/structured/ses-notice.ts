/** Parses notices of Amazon SES that SNS sends as mail: JSON in the text, directly or in an SNS envelope. */
import type { FeedbackEvidence, FeedbackEvent } from '#core/feedback/event.ts'
import { maxRecipients } from './delivery-status.ts'
import { plainAddress } from '../facts/mail-address.ts'
import { failureCodes, replyCodes } from '../facts/reply-codes.ts'
import { dateIn, reportEvent, type EventFacts, type ReportFrame } from '../facts/report-event.ts'

const maxJson = 512 * 1024

type Json = Readonly<Record<string, unknown>>

/** Returns undefined if the text is not such a notice. */
export function sesEvents(text: string, frame: ReportFrame): FeedbackEvent[] | undefined {
  const outer = objectIn(text)
  const notice = typeof outer?.['Message'] === 'string' ? objectIn(outer['Message']) : outer
  const kind = textOf(notice?.['notificationType'] ?? notice?.['eventType'])
  const report = notice && kind ? asObject(notice[kind.toLowerCase()]) : undefined
  if (!notice || !report) return undefined
  const mail = asObject(notice['mail']) ?? {}
  const own = { ...frame, clues: withMail(frame.clues, mail), reportingMta: hostOf(report['reportingMTA']) ?? frame.reportingMta }
  const occurredAt = dateIn(textOf(report['timestamp'])) ?? frame.writtenAt
  return factsOf(kind ?? '', report).map((facts) => reportEvent(own, { occurredAt, ...facts }))
}

function factsOf(kind: string, report: Json): EventFacts[] {
  switch (kind) {
    case 'Bounce':
      return objects(report['bouncedRecipients']).map((one) => bounceFacts(one, report))
    case 'Complaint':
      return objects(report['complainedRecipients']).map((one) => complaintFacts(one, report))
    case 'Delivery':
      return list(report['recipients']).map((recipient) => deliveryFacts(textOf(recipient), textOf(report['smtpResponse'])))
    default:
      return []
  }
}

function bounceFacts(one: Json, report: Json): EventFacts {
  const diagnostic = textOf(one['diagnosticCode'])?.replace(/^\s*[\w-]{1,40}\s*;/, '')
  const codes = failureCodes(diagnostic ?? '')
  return {
    type: 'bounced',
    isStructured: false,
    recipient: plainAddress(textOf(one['emailAddress']) ?? '') ?? null,
    action: 'failed',
    status:
      /^[245]\.\d{1,3}\.\d{1,3}$/.exec(textOf(one['status']) ?? '')?.[0] ??
      codes.status ??
      (report['bounceType'] === 'Transient' ? '4.0.0' : '5.0.0'),
    smtpCode: codes.smtpCode,
    diagnostic: diagnostic ?? null,
    remote: textOf(report['remoteMtaIp']),
  }
}

function complaintFacts(one: Json, report: Json): EventFacts {
  const feedbackType = textOf(report['complaintFeedbackType'])?.toLowerCase() ?? 'abuse'
  const isComplaint = feedbackType !== 'not-spam' && feedbackType !== 'auth-failure'
  return {
    type: isComplaint ? 'complained' : 'ignored',
    isStructured: false,
    recipient: plainAddress(textOf(one['emailAddress']) ?? '') ?? null,
    action: isComplaint ? 'complaint' : null,
    feedbackType,
  }
}

function deliveryFacts(recipient: string | undefined, response = ''): EventFacts {
  const codes = replyCodes(response)
  return {
    type: 'delivered',
    isStructured: false,
    recipient: plainAddress(recipient ?? '') ?? null,
    action: 'delivered',
    status: codes.status ?? '2.0.0',
    smtpCode: codes.smtpCode,
    diagnostic: response,
  }
}

/** Parses the object at the beginning of the text. Relays break its long lines, some with an exclamation mark. */
function objectIn(text: string): Json | undefined {
  const start = text.search(/\S/)
  if (start < 0 || text[start] !== '{') return undefined
  const end = text.search(/\n--\s*\n/)
  const body = text.slice(start, end < 0 ? undefined : end).slice(0, maxJson)
  const joined = body.slice(0, body.lastIndexOf('}') + 1)
  return [joined, joined.replaceAll(/!?\n ?/g, '')].map(parsed).find((value) => value !== undefined)
}

function parsed(text: string): Json | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Adds the facts about the returned message that SES reports. */
function withMail(clues: FeedbackEvidence, mail: Json): FeedbackEvidence {
  const headers = objects(mail['headers'])
  const values = (name: string): string[] =>
    headers.filter((header) => textOf(header['name'])?.toLowerCase() === name).flatMap((header) => textOf(header['value']) ?? [])
  const id = textOf(mail['messageId'])
  return {
    ...clues,
    returnPaths: [
      ...(plainAddress(textOf(mail['source']) ?? '') === undefined ? [] : [textOf(mail['source']) ?? '']),
      ...clues.returnPaths,
    ].slice(0, 20),
    references: [...values('x-service-ref'), ...clues.references].slice(0, 20),
    messageIds: [...values('message-id'), ...clues.messageIds].slice(0, 20),
    queueIds: id === undefined ? clues.queueIds : [id.slice(0, 998), ...clues.queueIds].slice(0, 20),
    originalTo: list(mail['destination']).flatMap((address) => plainAddress(textOf(address) ?? '') ?? []),
  }
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value.slice(0, maxRecipients) : [])
const objects = (value: unknown): Json[] =>
  list(value)
    .map(asObject)
    .filter((entry) => entry !== undefined)
const asObject = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value.slice(0, 8192) : undefined)
const hostOf = (value: unknown): string | null => /^(?:\w+;)?\s*([\w.-]{1,255})/.exec(textOf(value) ?? '')?.[1] ?? null
