/** What a report makes of a trace: the report as it is kept, and the trace after it. Pure. */
import { advance, worstStatus, type TraceEvent } from '../trace/states.ts'
import { reportId, type ReportType, type TraceReport } from '../trace/trace-report.ts'
import type { Trace, TraceRecipient } from '../trace/trace.ts'
import type { Attribution } from './attribution.ts'
import { classify, type Classification } from './classify.ts'
import type { FeedbackEvent } from './event.ts'
import { foldEmail } from './suppression.ts'

export interface Told {
  readonly event: FeedbackEvent & { readonly type: ReportType }
  readonly attribution: Attribution
  readonly isUnverified: boolean
  readonly sourceId: string | null
  readonly rawBytes: number
  readonly rawOf?: string | undefined
}

const traceEvents = {
  delivered: 'delivery_reported',
  bounced: 'bounce_reported',
  complained: 'complaint_reported',
  deferred: undefined,
  bounce_unparsed: undefined,
} as const satisfies Record<ReportType, TraceEvent | undefined>

/** The report as it is kept; whether it suppresses is settled with the list. */
export function reportOf({ event, attribution, isUnverified, sourceId, rawBytes, rawOf }: Told, nowMs: number): TraceReport {
  const { type, recipient: last, originalRecipient: _, clues: __, key: ___, isStructured: ____, remoteIp: _____, ...told } = event
  const { traceId, projectId, recipient, proof } = attribution
  const judged = type === 'bounced' || type === 'deferred' ? classify(event) : undefined
  const isElsewhere = last !== null && recipient !== null && foldEmail(last) !== foldEmail(recipient)
  return {
    ...told,
    ...{ id: reportId(traceId, recipient, type, isUnverified), traceId, projectId, type, at: nowMs },
    occurredAt: event.occurredAt === null ? null : Math.round(event.occurredAt),
    ...{ recipient, finalRecipient: isElsewhere ? last : null, sourceId, proof, isUnverified },
    bounce: type === 'bounced' ? (judged?.bounce ?? null) : type === 'bounce_unparsed' ? 'soft' : null,
    category: type === 'bounce_unparsed' ? type : (judged?.category ?? null),
    reason: reasonOf(event, judged),
    suppression: null,
    rawBytes,
    rawOf,
  }
}

function reasonOf({ type, remoteMta, feedbackType }: Told['event'], judged: Classification | undefined): string {
  const by = remoteMta ?? 'The server of the recipient'
  if (type === 'delivered') return `${by} took the message.`
  if (type === 'complained') return `It was reported to us as unwanted (${feedbackType ?? 'complaint'}).`
  if (type === 'bounce_unparsed') return 'It came to the return path and is not a report that can be read, so nothing changes.'
  const why = judged?.reason ?? ''
  return type === 'deferred' ? `${why} ${by} put it off, and it is tried again there.` : why
}

/** The trace after a report; the same trace where it changes nothing. Terminal states stay. */
export function afterReport(trace: Trace, report: TraceReport): Trace {
  const { type, at, reason, bounce, isUnverified, recipient: told } = report
  if (isUnverified || told === null) return trace
  const event = traceEvents[type]
  const recipients = trace.recipients.map((recipient): TraceRecipient => {
    if (recipient.address !== told) return recipient
    const status = event ? advance(recipient.status, event) : recipient.status
    const isNews = status !== recipient.status || (type === 'deferred' && status === 'sent')
    return isNews ? { ...recipient, status, report: { type, at, reason, bounce } } : recipient
  })
  if (recipients.every((recipient, i) => recipient === trace.recipients[i])) return trace
  return { ...trace, recipients, status: worstStatus(recipients.map(({ status }) => status)), updatedAt: at }
}
