/** Puts a failed message back into the queue for those of its recipients who have not got it. Pure. Promise 4. */
import type { AttemptRecord } from '../../trace/attempt-record.ts'
import { advance, worstStatus } from '../../trace/states.ts'
import type { Trace } from '../../trace/trace.ts'

/** Replays that a trace remembers; the oldest are forgotten. */
const replaysKept = 20

export interface Requeue {
  /** Not there when one trace was retried. */
  readonly jobId?: string | undefined
  readonly destinationId: string
  readonly includeUnknown: boolean
  /** Recipients that stay as they are, because they are suppressed by now. */
  readonly suppressed?: ReadonlySet<string> | undefined
  readonly now: number
}

/** The trace in the queue again, or undefined when no recipient is left. A recipient once accepted stays accepted. */
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

/** The trace with a note of who goes again; the schedule of retries begins anew with it. */
export function withReplay(
  trace: Trace,
  { jobId, destinationId, recipients, now }: Pick<Requeue, 'jobId' | 'destinationId' | 'now'> & { readonly recipients: number },
): Trace {
  const replay = { ...(jobId !== undefined && { jobId }), at: now, attempts: trace.attempts, destinationId, recipients }
  return { ...trace, replays: [...(trace.replays ?? []), replay].slice(-replaysKept) }
}

/** Recipients whose last attempt ended without an answer: the provider may have the message for them. */
export function leftUnknown(trace: Trace, attempts: readonly AttemptRecord[]): Set<string> {
  const unknown = new Set<string>()
  for (const { state, recipients } of attempts) {
    // an attempt that the process did not survive has no reports: it may have reached everybody
    if (!recipients && state !== 'finished') for (const { address } of trace.recipients) unknown.add(address)
    for (const { address, verdict } of recipients ?? []) {
      if (verdict === 'unknown') unknown.add(address)
      else unknown.delete(address)
    }
  }
  return unknown
}
