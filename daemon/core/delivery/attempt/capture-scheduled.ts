/** A scheduled send whose outcome is a capture, at its time. */
import { Change } from '#store/change.ts'
import { dequeue, dequeueIfThere, type QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import type { Capture } from '../../capture/capture.ts'
import { takeCapture } from '../../capture/inboxes/take-capture.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import { advance } from '../../trace/states.ts'
import { traces, type Trace } from '../../trace/trace.ts'

/** Is notified of a scheduled send that was captured, after it is durable. */
export type OnCaptured = (capture: Capture) => void

interface CaptureParts extends Core {
  readonly onCaptured: OnCaptured
}

/**
 * Captures it in one write, on condition that nothing has changed the trace, so that of this and a cancel exactly one happens.
 * Of a project that is being deleted nothing is captured: it goes with its project.
 */
export async function captureScheduled(
  { database, clock, onCaptured }: CaptureParts,
  { deleted }: Pick<Policy, 'deleted'>,
  entry: QueueEntry,
  read: Stored<Trace>,
): Promise<undefined> {
  let stored: Stored<Trace> | undefined = read
  while (stored?.record.status === 'queued' && !deleted.has(stored.record.projectId)) {
    const { outcome } = stored.record
    if (outcome === 'relayed' || outcome === 'refused') break
    const now = clock.now()
    const { scheduledAddresses: headerAddresses = [], ...record } = stored.record
    const recipients = record.recipients.map((recipient) => ({ ...recipient, status: advance(recipient.status, 'captured') }))
    const status = advance(record.status, 'captured')
    const trace: Trace = { ...record, status, recipients, begunAt: now, updatedAt: now, nextAttemptAt: null }
    const change = dequeue(new Change(), entry).replace(traces, entry.organizationId, stored, trace)
    const capture = takeCapture(database, change, entry.organizationId, trace, outcome, { headerAddresses, nowMs: now })
    if ((await database.commit(change)).ok) {
      onCaptured(capture)
      return undefined
    }
    stored = await database.get(traces, entry, entry.traceId)
  }
  await database.commit(await dequeueIfThere(database, new Change(), entry))
  return undefined
}
