/** Computes the stored form of a report and its effect on the trace. Pure. */
import { advance, worstStatus, type TraceEvent } from '../../trace/states.ts'
import { reportId, type ReportType, type TraceReport } from '../../trace/trace-report.ts'
import { bounceOf, type Trace, type TraceRecipient } from '../../trace/trace.ts'
import type { Attribution } from './attribution.ts'
import { classify, type Classification } from './classify.ts'
import type { FeedbackEvent } from '../event.ts'
import { foldEmail } from '../suppression/suppression.ts'

export interface ReportFacts {
  readonly event: FeedbackEvent & { readonly type: ReportType }
  readonly attribution: Attribution
  readonly isUnverified: boolean
  readonly maySuppress: boolean
  readonly sourceId: string | null
  readonly rawBytes: number
}

const traceEvents = {
  delivered: 'delivery_reported',
  bounced: 'bounce_reported',
  complained: 'complaint_reported',
  deferred: undefined,
  bounce_unparsed: undefined,
} as const satisfies Record<ReportType, TraceEvent | undefined>

/** Returns the stored form of a report. `settleSuppressions` later sets `suppression`. */
export function reportOf({ event, attribution, isUnverified, maySuppress, sourceId, rawBytes }: ReportFacts, nowMs: number): TraceReport {
  const { type, recipient: last, originalRecipient: _, clues: __, key: ___, remoteIp: ____, ...reported } = event
  const { traceId, projectId, recipient, proof } = attribution
  const classified = type === 'bounced' || type === 'deferred' ? classify(event) : undefined
  const isElsewhere = last !== null && recipient !== null && foldEmail(last) !== foldEmail(recipient)
  return {
    ...reported,
    ...{ id: reportId(traceId, recipient, type, isUnverified), traceId, projectId, type, at: nowMs },
    occurredAt: event.occurredAt === null ? null : Math.round(event.occurredAt),
    ...{ recipient, finalRecipient: isElsewhere ? last : null, sourceId, proof, isUnverified },
    bounce: type === 'bounced' ? (classified?.bounce ?? null) : type === 'bounce_unparsed' ? 'soft' : null,
    category: type === 'bounce_unparsed' ? type : (classified?.category ?? null),
    reason: reasonOf(event, classified),
    suppression: null,
    rawBytes,
    maySuppress,
  }
}

function reasonOf({ type, remoteMta, feedbackType }: ReportFacts['event'], classified: Classification | undefined): string {
  const by = remoteMta ?? 'The server of the recipient'
  if (type === 'delivered') return `${by} accepted the message.`
  if (type === 'complained') return `It was reported as spam (${feedbackType ?? 'complaint'}).`
  if (type === 'bounce_unparsed') return 'It was received at the return path, but is not a report that can be parsed; it has no effect.'
  const why = classified?.reason ?? ''
  return type === 'deferred' ? `${why} ${by} deferred it and retries it.` : why
}

/**
 * Returns the trace after a report, or the same trace if the report changes nothing. Terminal states do not change; the best evidence
 * explains them. A report that may not advance the state only updates the existing explanation.
 */
export function afterReport(trace: Trace, report: TraceReport, nowMs: number, mayAdvance = true): Trace {
  const { isUnverified, recipient: reported } = report
  if (isUnverified || reported === null) return trace
  const recipients = trace.recipients.map((recipient) =>
    recipient.address === reported ? recipientAfter(recipient, report, mayAdvance) : recipient,
  )
  if (recipients.every((recipient, i) => recipient === trace.recipients[i])) return trace
  return { ...trace, recipients, status: worstStatus(recipients.map(({ status }) => status)), updatedAt: nowMs }
}

function recipientAfter(recipient: TraceRecipient, { type, at, reason, bounce }: TraceReport, mayAdvance: boolean): TraceRecipient {
  const event = mayAdvance ? traceEvents[type] : undefined
  const status = event ? advance(recipient.status, event) : recipient.status
  const isExplaining = status !== recipient.status || (type === 'deferred' && status === 'sent') || recipient.report?.type === type
  const report = isExplaining ? { type, at, reason, bounce } : recipient.report
  const changesRecipient =
    status !== recipient.status ||
    (type === 'bounced' && bounceOf(recipient) !== bounce) ||
    JSON.stringify(report) !== JSON.stringify(recipient.report)
  return changesRecipient ? { ...recipient, status, ...(report && { report }), ...(type === 'bounced' && { bounce }) } : recipient
}
