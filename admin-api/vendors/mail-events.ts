/** Events of a message for each of its recipients, in order of time, for the event lists of other services. */
import type { PeerReply } from '#core/trace/attempt-record.ts'
import type { TraceDetails } from '#core/trace/timeline/trace-reader.ts'
import type { Trace } from '#core/trace/trace.ts'
import { worstBounce } from '#core/trace/timeline/summary.ts'

export interface MailEvent {
  /** `sent`: the provider accepted it; `delivered`: a report confirmed its arrival. */
  readonly type:
    | 'accepted'
    | 'scheduled'
    | 'captured'
    | 'canceled'
    | 'suppressed'
    | 'sent'
    | 'deferred'
    | 'failed'
    | 'delivered'
    | 'bounced'
    | 'complained'
    | 'opened'
    | 'clicked'
  readonly at: number
  /** Null if the recipient is unknown. */
  readonly recipient: string | null
  readonly reply?: PeerReply | undefined
  /** One plain sentence. */
  readonly reason?: string | undefined
  readonly bounce?: 'hard' | 'soft' | 'block' | null
  /** Target of a click. */
  readonly url?: string
}

export function mailEvents(details: TraceDetails): readonly MailEvent[] {
  return [...ofTrace(details.trace), ...ofAttempts(details), ...ofReports(details), ...ofEngagement(details)].toSorted(
    (a, b) => a.at - b.at,
  )
}

function ofTrace({ recipients, createdAt, sendAt, capture, canceled }: Trace): MailEvent[] {
  return recipients.flatMap(({ address: recipient, suppression }) => [
    { type: 'accepted' as const, at: createdAt, recipient },
    ...(sendAt === undefined ? [] : [{ type: 'scheduled' as const, at: createdAt, recipient }]),
    ...(suppression ? [{ type: 'suppressed' as const, at: suppression.at, recipient, reason: suppression.reason ?? undefined }] : []),
    ...(capture ? [{ type: 'captured' as const, at: capture.at, recipient }] : []),
    ...(canceled ? [{ type: 'canceled' as const, at: canceled.at, recipient }] : []),
  ])
}

const verdicts = { accepted: 'sent', transient: 'deferred', permanent: 'failed', unknown: 'deferred' } as const

const ofAttempts = ({ attempts }: TraceDetails): MailEvent[] =>
  attempts.flatMap(({ startedAt, endedAt = startedAt, recipients = [], error }) =>
    recipients.map(({ address, verdict, reply }) => ({
      ...{ type: verdicts[verdict], at: endedAt, recipient: address },
      ...{ reply, reason: reply?.text ?? error?.message },
    })),
  )

/** Unverified and unreadable reports are omitted. */
const ofReports = ({ reports }: TraceDetails): MailEvent[] =>
  reports.flatMap(({ type, at, recipient, reason, bounce, isUnverified }) =>
    isUnverified || type === 'bounce_unparsed' ? [] : [{ type, at, recipient, reason, bounce }],
  )

function ofEngagement({ trace: { recipients }, engagement }: TraceDetails): MailEvent[] {
  const reached = recipients.filter(({ status }) => status !== 'suppressed')
  const recipient = reached.length === 1 ? (reached[0]?.address ?? null) : null
  return [
    ...(engagement?.firstOpens ?? []).map((at) => ({ type: 'opened' as const, at, recipient })),
    ...(engagement?.firstClicks ?? []).map(({ at, url }) => ({ type: 'clicked' as const, at, recipient, url })),
  ]
}

/** The latest status of a message, for services that have one status for it. */
export type LatestStatus = Exclude<MailEvent['type'], 'accepted'> | 'queued'

export function latestStatus({ trace, engagement }: TraceDetails): LatestStatus {
  const { status, attempts, sendAt, begunAt } = trace
  const isWaiting = status === 'queued' || status === 'pending'
  if (isWaiting) return sendAt !== undefined && begunAt === undefined ? 'scheduled' : attempts > 0 ? 'deferred' : 'queued'
  if (status === 'sent' || status === 'delivered') return engagement?.clicks ? 'clicked' : engagement?.opens ? 'opened' : status
  if (status === 'failed' || status === 'validation_failed') return worstBounce(trace) === null ? 'failed' : 'bounced'
  return status
}
