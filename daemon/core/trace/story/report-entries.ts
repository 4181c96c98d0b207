/** What reports add to the timeline of a trace: the outcome of the message after it left, and why. */
import type { AttemptRecord } from '../attempt-record.ts'
import { inOrder, type TimelineEntry } from './timeline.ts'
import type { Trace } from '../trace.ts'
import { keptMailId, type TraceReport } from '../trace-report.ts'

/** In order of time. Of an automatic suppression only where it took place. */
export function reportEntries({ createdAt }: Trace, [first]: readonly AttemptRecord[], reports: readonly TraceReport[]): TimelineEntry[] {
  const leftAt = first?.startedAt ?? createdAt
  return inOrder(reports.flatMap((report) => [entryOf(report, leftAt), ...suppressionEntry(report)]))
}

function entryOf(report: TraceReport, leftAt: number): TimelineEntry {
  const { type, at, occurredAt, recipient, reason, isUnverified } = report
  // the reporter's clock may be wrong: nothing happens before the message leaves, or after it is reported
  const when = Math.min(at, Math.max(leftAt, occurredAt ?? at))
  const about = recipient ?? 'one of its recipients'
  const message = `${words[type]} ${about}: ${reason}`
  return {
    at: when,
    event: type,
    message: isUnverified ? `Unverified and without effect: ${message}` : message,
    detail: detailOf(report),
  }
}

const words = {
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
