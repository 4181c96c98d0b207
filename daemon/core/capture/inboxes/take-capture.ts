/** The capture of a message: its row, and the reading of its body that follows. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { foldAddress } from '../../addresses.ts'
import type { Trace } from '../../trace/trace.ts'
import { captures, type Capture, type CaptureReason } from '../capture.ts'
import { pendingReadKey } from '../reading/pending-read.ts'

/**
 * Adds the capture to the change, which is to be committed at once: it is made and timed just before it is written, so that
 * captures become visible in the order of their ids and times.
 */
export function takeCapture(
  database: Database,
  change: Change,
  organizationId: string,
  trace: Trace,
  reason: CaptureReason,
  { headerAddresses, nowMs }: { readonly headerAddresses: readonly string[]; readonly nowMs: number },
): Capture {
  const intendedTo = trace.recipients.map(({ address }) => address)
  const capture: Capture = {
    id: database.orderedId('cap', nowMs),
    traceId: trace.id,
    projectId: trace.projectId,
    captureReason: reason,
    destinationId: reason === 'captured.sandbox_destination' ? trace.destinationId : null,
    intendedFrom: trace.headerFrom || trace.mailFrom,
    intendedTo,
    addressesSeen: [...new Set([...headerAddresses, ...[trace.mailFrom, ...intendedTo].map(foldAddress)])].toSorted(),
    capturedAt: nowMs,
  }
  change.insertUnchecked(captures, organizationId, capture).set(pendingReadKey(organizationId, capture.id))
  return capture
}
