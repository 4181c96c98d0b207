/** Parses complaints: feedback reports with fields (RFC 5965), and the reports of Hotmail and Apple, which have no such fields. */
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { addressList } from '../../mime/address-list.ts'
import { firstValue, type HeaderField } from '../../mime/header-fields.ts'
import { maxRecipients } from './delivery-status.ts'
import { typedAddress } from '../facts/mail-address.ts'
import { originalTo, fieldValues } from '../facts/report-evidence.ts'
import { dateIn, reportEvent, type ReportFrame } from '../facts/report-event.ts'
import type { FieldGroup } from '../facts/status-fields.ts'

/** Feedback types that are not complaints: RFC 6430, RFC 6591, and reports for programs. */
const noComplaint = new Set(['not-spam', 'auth-failure', 'xarf', 'dmarc', 'miscategorized', 'dkim', 'dkim-failure'])
const redacted = /^(?:redacted|undisclosed|unknown|hidden|x+)@|@(?:redacted|undisclosed)\b/i

/** Returns one event for each named recipient, or one event without a recipient. */
export function feedbackEvents(groups: readonly FieldGroup[], returned: readonly HeaderField[], frame: ReportFrame): FeedbackEvent[] {
  const valueOf = (name: string): string | undefined => fieldValues(groups, name)[0]
  const feedbackType = valueOf('feedback-type')?.trim().toLowerCase().slice(0, 100) ?? 'other'
  const isComplaint = !noComplaint.has(feedbackType)
  const occurredAt = dateIn(valueOf('arrival-date') ?? valueOf('received-date')) ?? frame.writtenAt
  return (recipientsOf(groups, returned) ?? [null]).map((recipient) =>
    reportEvent(frame, {
      type: isComplaint ? 'complained' : 'ignored',
      isStructured: true,
      occurredAt,
      recipient,
      action: isComplaint ? 'complaint' : null,
      feedbackType,
    }),
  )
}

function recipientsOf(groups: readonly FieldGroup[], returned: readonly HeaderField[]): string[] | undefined {
  const fields = ['original-rcpt-to', 'removal-recipient', 'final-recipient', 'original-recipient']
  const kinds = [
    [firstValue(returned, 'x-hmxmroriginalrecipient') ?? ''],
    ...fields.map((name) => fieldValues(groups, name)),
    singleRecipient(returned),
  ]
  for (const values of kinds) {
    const named = values.slice(0, maxRecipients).flatMap((value) => typedAddress(value) ?? [])
    const found = new Map(named.filter((address) => !redacted.test(address)).map((address) => [address.toLowerCase(), address]))
    if (found.size > 0) return [...found.values()]
  }
  return undefined
}

/** The To address of the message, if it is the only one. Several addresses do not identify the complaining recipient. */
const singleRecipient = (returned: readonly HeaderField[]): string[] => {
  const to = originalTo(returned)
  return to.length === 1 ? to : []
}

/** Recognizes a Junk Mail Reporting mail of Hotmail or Outlook.com: the message is a part, and a header field names its recipient. */
export function isJunkReport(report: readonly HeaderField[], returned: readonly HeaderField[]): boolean {
  const from = firstValue(report, 'from') ?? ''
  const subject = firstValue(report, 'subject') ?? ''
  const isHotmail = /\bstaff@(?:hotmail|outlook)\.com\b/i.test(from) && /complaint about message from/i.test(subject)
  return returned.length > 0 && (isHotmail || firstValue(returned, 'x-hmxmroriginalrecipient') !== undefined)
}

/** Recognizes a junk report that consists of the message itself, without an enclosing mail. */
export const isBareJunkReport = (report: readonly HeaderField[]): boolean =>
  firstValue(report, 'x-hmxmroriginalrecipient') !== undefined &&
  /^<?staff@(?:hotmail|outlook)\.com>?$/i.test(firstValue(report, 'return-path') ?? '')

/** The event of a junk report. */
export const junkReportEvent = (returned: readonly HeaderField[], frame: ReportFrame): FeedbackEvent =>
  reportEvent(frame, {
    type: 'complained',
    isStructured: false,
    recipient: recipientsOf([], returned)?.[0] ?? null,
    action: 'complaint',
    feedbackType: 'abuse',
  })

/** The event of Apple Mail's "unsubscribe", a mail from the recipient to the List-Unsubscribe address. Undefined for any other mail. */
export function optOutEvent(report: readonly HeaderField[], frame: ReportFrame): FeedbackEvent | undefined {
  if (!/^\s*true\b/i.test(firstValue(report, 'x-apple-unsubscribe') ?? '')) return undefined
  const [from] = addressList(firstValue(report, 'from') ?? '')
  return reportEvent(frame, {
    type: 'complained',
    isStructured: false,
    recipient: from === undefined || from.address === '' ? null : from.address,
    action: 'complaint',
    feedbackType: 'opt-out',
  })
}
