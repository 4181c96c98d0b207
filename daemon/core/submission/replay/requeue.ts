/** Queues a failed message again for the recipients that have not received it. Pure. Promise 4. */
import type { AttemptRecord } from '../../trace/attempt-record.ts'
import { advance, worstStatus } from '../../trace/states.ts'
import type { Trace } from '../../trace/trace.ts'

/** Replays stored in a trace; the oldest are dropped. */
const replaysKept = 20

export interface Requeue {
  /** Undefined for the retry of a single trace. */
  readonly jobId?: string | undefined
  readonly destinationId: string
  readonly includeUnknown: boolean
  /** Recipients that keep their status, because they are suppressed now. */
  readonly suppressed?: ReadonlySet<string> | undefined
  readonly now: number
}

/** Returns the queued trace, or undefined if no recipient remains. An accepted recipient stays accepted. */
export function requeue(
  trace: Trace,
  attempts: readonly AttemptRecord[],
  { jobId, destinationId, includeUnknown, suppressed = new Set(), now }: Requeue,
): Trace | undefined {
  const leftOut = suppressed.union(includeUnknown ? new Set() : leftUnknown(trace, attempts))
  let again = 0
  const recipients = trace.recipients.map((recipient) => {
    const status = leftOut.has(recipient.address) ? recipient.status : advance(recipient.status, 'retried')
    if (status === recipient.status) return recipient
    again++
    const { unknownAttempts: _, report: __, bounce: ___, ...kept } = recipient
    return { ...kept, status }
  })
  if (again === 0) return undefined
  const next: Trace = {
    ...trace,
    recipients,
    status: worstStatus(recipients.map(({ status }) => status)),
    destinationId,
    ...(trace.failover && { failover: { ...trace.failover, primaryId: destinationId, detours: 0 } }),
    unknownAttempts: 0,
    updatedAt: now,
    nextAttemptAt: now,
  }
  return withReplay(next, { jobId, destinationId, recipients: again, now })
}

/** Returns the trace with a record of the replay, which restarts the retry schedule. */
export function withReplay(
  trace: Trace,
  { jobId, destinationId, recipients, now }: Pick<Requeue, 'jobId' | 'destinationId' | 'now'> & { readonly recipients: number },
): Trace {
  const replay = { ...(jobId !== undefined && { jobId }), at: now, attempts: trace.attempts, destinationId, recipients }
  return { ...trace, replays: [...(trace.replays ?? []), replay].slice(-replaysKept) }
}

/** Returns recipients whose last attempt ended without a reply. The provider may have accepted their message. */
export function leftUnknown(trace: Trace, attempts: readonly AttemptRecord[]): Set<string> {
  const unknown = new Set<string>()
  for (const { state, recipients } of attempts) {
    // an attempt interrupted by a crash has no reports and may have reached all recipients
    if (!recipients && state !== 'finished') for (const { address } of trace.recipients) unknown.add(address)
    for (const { address, verdict } of recipients ?? []) {
      if (verdict === 'unknown') unknown.add(address)
      else unknown.delete(address)
    }
  }
  return unknown
}
