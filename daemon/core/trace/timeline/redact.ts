/** Public view of a shared trace: an allow list, so that new fields stay private until they are listed here. */
import type { AttemptRecord, RecipientVerdict } from '../attempt-record.ts'
import { reportEntries } from './report-entries.ts'
import type { TraceStatus } from '../states.ts'
import type { Trace } from '../trace.ts'
import type { TraceReport } from '../trace-report.ts'
import { addressHider } from './hide-addresses.ts'
import { inOrder, timelineOf } from './send-timeline.ts'

/** A reply of a server about a visible recipient, or the reply that a bounce quotes. */
export interface SharedReply {
  readonly at: number
  /** Number of the attempt; null for a later bounce. */
  readonly attempt: number | null
  readonly verdict: RecipientVerdict
  readonly code: number | null
  readonly enhanced: string | null
  /** Verbatim, with `hiddenMark` in place of addresses, local parts of recipients and the subject. */
  readonly text: string
}

/** A trace as its share link shows it: without content, subject, the owner's identifiers and local parts of addresses. */
export interface SharedTrace {
  readonly traceId: string
  readonly status: string
  readonly outcome: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly provider: string | null
  readonly recipients: readonly { readonly address: string; readonly status: string }[]
  readonly timeline: readonly { readonly at: number; readonly event: string }[]
  /** In order of time; the latest ones of many. */
  readonly replies: readonly SharedReply[]
  /** Category of the latest failure of a visible recipient. */
  readonly reason: string | null
}

/** Decodes a raw Subject. */
type ReadSubject = (raw: string) => string

export function redactTrace(
  trace: Trace,
  attempts: readonly AttemptRecord[],
  reports: readonly TraceReport[],
  readSubject: ReadSubject = (raw) => raw,
): SharedTrace {
  // The link is for recipients, who must not learn of blind copies (RFC 5322 §3.6.3).
  const visible = trace.recipients.filter(({ bcc }) => !bcc)
  const shown = reportsForAll(trace, reports)
  return {
    traceId: trace.id,
    status: withoutComplaint(trace.status),
    outcome: trace.outcome,
    createdAt: trace.createdAt,
    updatedAt: trace.updatedAt,
    provider: attempts.findLast(({ provider }) => provider !== undefined)?.provider ?? null,
    recipients: visible.map(({ address, status }) => ({ address: maskAddress(address), status: withoutComplaint(status) })),
    timeline: inOrder([...timelineOf(trace, attempts), ...reportEntries(trace, attempts, shown)]).map(({ at, event }) => ({ at, event })),
    replies: repliesOf(trace, attempts, shown, readSubject),
    reason: visible.some(({ status }) => isFailed(status)) ? (shown.findLast(({ category }) => category !== null)?.category ?? null) : null,
  }
}

const isFailed = (status: TraceStatus): boolean => status === 'failed' || status === 'bounced'

const maxReplies = 20

function repliesOf(trace: Trace, attempts: readonly AttemptRecord[], reports: readonly TraceReport[], readSubject: ReadSubject) {
  const visible = new Set(trace.recipients.filter(({ bcc }) => !bcc).map(({ address }) => address))
  const given = [
    ...attempts.flatMap(({ number, startedAt, endedAt = startedAt, recipients = [] }) =>
      recipients.flatMap(({ address, verdict, reply }): SharedReply[] => {
        if (!reply || !visible.has(address)) return []
        return [{ at: endedAt, attempt: number, verdict, code: reply.code, enhanced: reply.enhanced ?? null, text: reply.text }]
      }),
    ),
    ...reports.flatMap((report) => quotedReply(report) ?? []),
  ]
  const distinct = new Map(given.map((reply) => [JSON.stringify({ ...reply, at: 0 }), reply]))
  const latest = [...distinct.values()].toSorted((a, b) => a.at - b.at).slice(-maxReplies)
  const hide = addressHider({ recipients: trace.recipients.map(({ address }) => address), subject: readSubject(trace.subject) })
  return latest.map((reply) => ({ ...reply, text: hide(reply.text) }))
}

/** Returns the reply that a bounce quotes. A bounce in an attempt repeats the reply of the attempt. */
function quotedReply({ type, proof, at, occurredAt, diagnostic, smtpCode, status, bounce }: TraceReport): SharedReply | undefined {
  if (type !== 'bounced' || proof === 'attempt' || diagnostic === null) return undefined
  const [begin = '', code, enhanced] =
    /^(?:[a-z][a-z0-9-]{0,30} ?; ?)?(?:([245]\d\d)[ -])?(?:([245]\.\d{1,3}\.\d{1,3}) )?/i.exec(diagnostic) ?? []
  return {
    at: Math.min(at, occurredAt ?? at),
    attempt: null,
    verdict: bounce === 'soft' ? 'transient' : 'permanent',
    code: smtpCode ?? (code === undefined ? null : Number(code)),
    enhanced: enhanced ?? status,
    text: diagnostic.slice(begin.length),
  }
}

/** Hides complaints, which are confidential. The message was delivered. */
const withoutComplaint = (status: TraceStatus): TraceStatus => (status === 'complained' ? 'delivered' : status)

/** Returns verified deliveries and bounces of visible recipients. */
const reportsForAll = ({ recipients }: Trace, reports: readonly TraceReport[]): TraceReport[] =>
  reports
    .filter(({ type, isUnverified }) => (type === 'delivered' || type === 'bounced') && !isUnverified)
    .filter(({ recipient }) => recipients.some(({ address, bcc }) => address === recipient && bcc === undefined))
    .map((report) => ({ ...report, suppression: null }))

/** `anna@shop.example` becomes `***@shop.example`. */
export const maskAddress = (address: string): string => `***${address.slice(address.lastIndexOf('@'))}`
