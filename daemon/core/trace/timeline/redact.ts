/** Public view of a shared trace: an allow list, so that new fields stay private until they are listed here. */
import type { AttemptRecord } from '../attempt-record.ts'
import { reportEntries } from './report-entries.ts'
import type { TraceStatus } from '../states.ts'
import type { Trace } from '../trace.ts'
import type { TraceReport } from '../trace-report.ts'
import { inOrder, timelineOf } from './send-timeline.ts'

/** A trace as its share link shows it: without content, subject, the owner's identifiers, SMTP replies and full addresses. */
export interface SharedTrace {
  readonly traceId: string
  readonly status: string
  readonly outcome: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly provider: string | null
  readonly recipients: readonly { readonly address: string; readonly status: string }[]
  readonly timeline: readonly { readonly at: number; readonly event: string }[]
}

export const redactTrace = (trace: Trace, attempts: readonly AttemptRecord[], reports: readonly TraceReport[]): SharedTrace => ({
  traceId: trace.id,
  status: withoutComplaint(trace.status),
  outcome: trace.outcome,
  createdAt: trace.createdAt,
  updatedAt: trace.updatedAt,
  provider: attempts.findLast(({ provider }) => provider !== undefined)?.provider ?? null,
  // The link is for recipients, who must not learn of blind copies (RFC 5322 §3.6.3).
  recipients: trace.recipients
    .filter(({ bcc }) => !bcc)
    .map(({ address, status }) => ({ address: maskAddress(address), status: withoutComplaint(status) })),
  timeline: inOrder([...timelineOf(trace, attempts), ...reportEntries(trace, attempts, reportsForAll(trace, reports))]).map(
    ({ at, event }) => ({
      at,
      event,
    }),
  ),
})

/** Hides complaints, which are confidential. The message was delivered. */
const withoutComplaint = (status: TraceStatus): TraceStatus => (status === 'complained' ? 'delivered' : status)

/** Returns verified deliveries and bounces of visible recipients. */
const reportsForAll = ({ recipients }: Trace, reports: readonly TraceReport[]): TraceReport[] =>
  reports
    .filter(({ type, isUnverified }) => (type === 'delivered' || type === 'bounced') && !isUnverified)
    .filter(({ recipient }) => recipients.some(({ address, bcc }) => address === recipient && bcc === undefined))
    .map((report) => ({ ...report, suppression: null }))

/** `anna@shop.example` becomes `a***@s***`. */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf('@')
  const first = (text: string): string => [...text].slice(0, 1).join('')
  return `${first(address.slice(0, at))}***@${first(address.slice(at + 1))}***`
}
