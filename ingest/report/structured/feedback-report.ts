/** Complaints: feedback reports with their fields (RFC 5965), and those of Hotmail and Apple, which come without. */
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { addressList } from '../../mime/address-list.ts'
import { firstValue, type HeaderField } from '../../mime/header-fields.ts'
import { maxRecipients } from './delivery-status.ts'
import { typedAddress } from '../facts/mail-address.ts'
import { originalTo, fieldValues } from '../facts/report-evidence.ts'
import { dateIn, reportEvent, type ReportFrame } from '../facts/report-event.ts'
import type { FieldGroup } from '../facts/status-fields.ts'

/** Reports that are no complaints: RFC 6430, RFC 6591, and those for machines. */
const noComplaint = new Set(['not-spam', 'auth-failure', 'xarf', 'dmarc', 'miscategorized', 'dkim', 'dkim-failure'])
const redacted = /^(?:redacted|undisclosed|unknown|hidden|x+)@|@(?:redacted|undisclosed)\b/i

/** One event for each recipient that the report names; one without, if it names none. */
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

/** The To of a message with one address; several leave open who complained. */
const singleRecipient = (returned: readonly HeaderField[]): string[] => {
  const to = originalTo(returned)
  return to.length === 1 ? to : []
}

/** Junk Mail Reporting of Hotmail and Outlook.com: the message as a part, whom it was for in a header of its own. */
export function isJunkReport(report: readonly HeaderField[], returned: readonly HeaderField[]): boolean {
  const from = firstValue(report, 'from') ?? ''
  const subject = firstValue(report, 'subject') ?? ''
  const isHotmail = /\bstaff@(?:hotmail|outlook)\.com\b/i.test(from) && /complaint about message from/i.test(subject)
  return returned.length > 0 && (isHotmail || firstValue(returned, 'x-hmxmroriginalrecipient') !== undefined)
}

/** The message itself sent back, without a mail around it. */
export const isBareJunkReport = (report: readonly HeaderField[]): boolean =>
  firstValue(report, 'x-hmxmroriginalrecipient') !== undefined &&
  /^<?staff@(?:hotmail|outlook)\.com>?$/i.test(firstValue(report, 'return-path') ?? '')

/** The event of such a report. */
export const junkReportEvent = (returned: readonly HeaderField[], frame: ReportFrame): FeedbackEvent =>
  reportEvent(frame, {
    type: 'complained',
    isStructured: false,
    recipient: recipientsOf([], returned)?.[0] ?? null,
    action: 'complaint',
    feedbackType: 'abuse',
  })

/** Apple Mail's "unsubscribe": a mail of the recipient to the address in List-Unsubscribe; undefined for any other mail. */
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
