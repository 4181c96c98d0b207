/** What of feedback is counted for metrics, said in the write that makes it happen: counted when that is durable, and once. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { TraceReport } from '../../trace/trace-report.ts'
import type { BounceClass } from '../event.ts'
import type { SuppressionSource } from './suppression.ts'

/** Is notified of what became durable. */
export interface FeedbackCounts {
  bounced(bounceClass: BounceClass | 'unclassified'): void
  complained(): void
  suppressed(source: SuppressionSource, entries: number): void
}

/** See `Database.onWork`. */
const countedWork = 'feedback.counted'

/** A recipient bounced: a verified report that is the first of its kind, or a refusal for good. */
export const countBounce = (change: Change, reportId: string, bounceClass: BounceClass | null): Change =>
  change.schedule(countedWork, `bounced ${bounceClass ?? 'unclassified'} ${reportId}`)

export const countComplaint = (change: Change, reportId: string): Change => change.schedule(countedWork, `complained - ${reportId}`)

/** So many entries came on the list, where none in force stood; `id` is that of one of them. */
export const countSuppressions = (change: Change, id: string, source: SuppressionSource, entries: number): Change =>
  change.schedule(countedWork, `suppressed ${source} ${id} ${entries}`)

/** A bounce that another server reported after the provider had accepted the message. */
export type ReportedBounce = Pick<TraceReport, 'traceId' | 'recipient' | 'bounce' | 'status' | 'smtpCode' | 'diagnostic' | 'reason'>

/** See `Database.onWork`. */
const reportedWork = 'feedback.reported'

export const tellBounce = (change: Change, { traceId, recipient, bounce, status, smtpCode, diagnostic, reason }: ReportedBounce): Change =>
  change.schedule(reportedWork, JSON.stringify({ traceId, recipient, bounce, status, smtpCode, diagnostic, reason }))

/** Calls the listener with each bounce that is reported from now on, once it is durable. */
export function observeBounces(database: Database, listener: (bounce: ReportedBounce) => void): void {
  database.onWork(reportedWork, (items) => {
    for (const item of items) listener(JSON.parse(item) as ReportedBounce)
  })
}

/** Reports everything that happens from now on. */
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
