/** Timeline entries for delivery reports: the outcome after the message left, with reasons. */
import type { AttemptRecord } from '../attempt-record.ts'
import { inOrder, type TimelineEntry } from './send-timeline.ts'
import type { Trace } from '../trace.ts'
import { keptMailId, type TraceReport } from '../trace-report.ts'

/** Returns entries sorted by time, including automatic suppressions. */
export function reportEntries({ createdAt }: Trace, attempts: readonly AttemptRecord[], reports: readonly TraceReport[]): TimelineEntry[] {
  return inOrder(reports.flatMap((report) => [entryOf(report, leftAt(attempts, report) ?? createdAt), ...suppressionEntry(report)]))
}

/** Returns the first acceptance by a provider for the recipient. If the report arrived earlier, returns the start of the first attempt. */
function leftAt(attempts: readonly AttemptRecord[], { at, recipient }: TraceReport): number | undefined {
  const isTaken = ({ recipients = [] }: AttemptRecord): boolean =>
    recipients.some(({ address, verdict }) => verdict === 'accepted' && (recipient === null || address === recipient))
  const taking = attempts.find((attempt) => attempt.startedAt <= at && isTaken(attempt))
  return taking?.endedAt ?? attempts[0]?.startedAt
}

function entryOf(report: TraceReport, left: number): TimelineEntry {
  const { type, at, occurredAt, recipient, reason, isUnverified } = report
  // the reporter's clock may be wrong or have whole seconds; the time is limited to the interval from departure to arrival of the report
  const when = Math.max(left, Math.min(at, occurredAt ?? at))
  const about = recipient ?? 'one of its recipients'
  const message = `${texts[type]} ${about}: ${reason}`
  return {
    at: when,
    event: type,
    message: isUnverified ? `Unverified and without effect: ${message}` : message,
    detail: detailOf(report),
  }
}

const texts = {
  delivered: 'Delivered to',
  bounced: 'Bounced for',
  complained: 'Complaint of',
  deferred: 'Delayed for',
  bounce_unparsed: 'An unreadable report about',
} as const

const detailOf = (report: TraceReport): Record<string, unknown> => ({
  recipient: report.recipient,
  final_recipient: report.finalRecipient,
  verified: !report.isUnverified,
  proof: report.proof,
  source: report.format,
  source_id: report.sourceId,
  bounce: report.bounce,
  category: report.category,
  status: report.status,
  smtp_code: report.smtpCode,
  diagnostic: report.diagnostic,
  remote_mta: report.remoteMta,
  feedback_type: report.feedbackType,
  report_id: report.rawBytes > 0 ? keptMailId(report) : null,
  reported_at: new Date(report.at).toISOString(),
})

function suppressionEntry({ at, recipient, suppression }: TraceReport): TimelineEntry[] {
  if (!suppression) return []
  const message = `${recipient ?? 'The recipient'} is suppressed: ${suppression.reason}`
  return [{ at, event: 'auto_suppressed', message, detail: { recipient, suppression_id: suppression.id } }]
}
