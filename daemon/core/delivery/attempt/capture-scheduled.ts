/** Captures a scheduled send when its time has come. */
import { dequeue, dequeueIfThere, type QueueEntry } from '#store/queue.ts'
import type { Core } from '../../core.ts'
import { captureOf, type Capture } from '../../capture/capture.ts'
import { takeCapture } from '../../capture/inboxes/take-capture.ts'
import { countCapturedLater } from '../../insights/count.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import { advance } from '../../trace/states.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { transact } from '../../writes/transact.ts'
import { movedTo } from './begin-scheduled.ts'

/** Notified of a captured scheduled send, after it is durable. */
export type OnCaptured = (capture: Capture) => void

interface CaptureParts extends Core {
  readonly onCaptured: OnCaptured
}

/**
 * Captures the message in one write that requires an unchanged trace, so that exactly one of capture and cancel succeeds. Returns the new
 * queue entry if the send was rescheduled. Captures nothing for a project that is being deleted.
 */
export async function captureScheduled(
  { database, clock, onCaptured }: CaptureParts,
  { deleted }: Pick<Policy, 'deleted'>,
  entry: QueueEntry,
): Promise<QueueEntry | undefined> {
  const { organizationId } = entry
  const done = await transact(database, entry, async (change) => {
    const stored = await change.get(traces, entry.traceId)
    const outcome = stored?.record.outcome ?? 'relayed'
    const isCaptured = outcome !== 'relayed' && outcome !== 'refused'
    if (stored?.record.status !== 'queued' || deleted.has(stored.record.projectId) || !isCaptured) {
      await dequeueIfThere(database, change, entry)
      return undefined
    }
    const now = clock.now()
    const elsewhere = await movedTo(database, entry, stored.record, now)
    if (elsewhere) return elsewhere
    const { scheduledAddresses: headerAddresses = [], ...record } = stored.record
    const recipients = record.recipients.map((recipient) => ({ ...recipient, status: advance(recipient.status, 'captured') }))
    const status = advance(record.status, 'captured')
    const trace: Trace = { ...record, status, recipients, begunAt: now, updatedAt: now, nextAttemptAt: null }
    const taken = takeCapture(database, change, organizationId, trace, { headerAddresses, nowMs: now })
    dequeue(change, entry).replace(traces, organizationId, stored, taken)
    countCapturedLater(change, { organizationId, projectId: taken.projectId }, now)
    return captureOf(taken)
  })
  if (done && 'moved' in done) return done.moved
  if (done) onCaptured(done)
  return undefined
}
