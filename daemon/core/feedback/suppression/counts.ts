/** Counts feedback for metrics. Counts are scheduled in the write and reported once, after it is durable. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { TraceReport } from '../../trace/trace-report.ts'
import type { BounceClass } from '../event.ts'
import type { SuppressionSource } from './suppression.ts'

/** Receives counts of durable writes. */
export interface FeedbackCounts {
  bounced(bounceClass: BounceClass | 'unclassified'): void
  complained(): void
  suppressed(source: SuppressionSource, entries: number): void
}

/** See `Database.onWork`. */
const countedWork = 'feedback.counted'

/** Counts a bounced recipient: the first verified report of its kind, or a permanent refusal. */
export const countBounce = (change: Change, reportId: string, bounceClass: BounceClass | null): Change =>
  change.schedule(countedWork, `bounced ${bounceClass ?? 'unclassified'} ${reportId}`)

export const countComplaint = (change: Change, reportId: string): Change => change.schedule(countedWork, `complained - ${reportId}`)

/** Counts new entries that replaced no entry in force. `id` is the id of any new entry. */
export const countSuppressions = (change: Change, id: string, source: SuppressionSource, entries: number): Change =>
  change.schedule(countedWork, `suppressed ${source} ${id} ${entries}`)

/** A bounce that another server reported after the provider accepted the message. */
export type ReportedBounce = Pick<TraceReport, 'traceId' | 'recipient' | 'bounce' | 'status' | 'smtpCode' | 'diagnostic' | 'reason'>

/** See `Database.onWork`. */
const reportedWork = 'feedback.reported'

export const tellBounce = (change: Change, { traceId, recipient, bounce, status, smtpCode, diagnostic, reason }: ReportedBounce): Change =>
  change.schedule(reportedWork, JSON.stringify({ traceId, recipient, bounce, status, smtpCode, diagnostic, reason }))

/** Calls the listener with each bounce that is reported from now on, after it is durable. */
export function observeBounces(database: Database, listener: (bounce: ReportedBounce) => void): void {
  database.onWork(reportedWork, (items) => {
    for (const item of items) listener(JSON.parse(item) as ReportedBounce)
  })
}

/** Reports all counts from now on. */
export function observeCounts(database: Database, counts: FeedbackCounts): void {
  database.onWork(countedWork, (keys) => {
    for (const key of keys) {
      const [what, label = '', , entries] = key.split(' ')
      if (what === 'bounced') counts.bounced(label as BounceClass)
      else if (what === 'complained') counts.complained()
      else counts.suppressed(label as SuppressionSource, Number(entries))
    }
  })
}
