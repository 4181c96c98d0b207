/** Queue entry of a trace that waits for its next attempt. */
import type { QueueEntry } from '#store/queue.ts'
import type { Element } from '#store/tuple.ts'
import { inTime, type Trace } from './trace.ts'

/** Destination of entries without delivery: scheduled sends that will be captured, and messages that wait for approval. */
export const noDestination = ''

/** Returns the position of the message's record, for reads without an id lookup; undefined if the row lacks it. */
export const placeOfWaiting = ({ projectId, acceptedMs }: QueueEntry): readonly Element[] | undefined =>
  acceptedMs === undefined ? undefined : [projectId, inTime, acceptedMs]

export const waitingEntry = (
  organizationId: string,
  { id, projectId, status, outcome, destinationId, nextAttemptAt, attempts, createdAt }: Trace,
): QueueEntry => ({
  destinationId: (outcome === 'relayed' && status !== 'pending' ? destinationId : null) ?? noDestination,
  projectId,
  dueMs: nextAttemptAt ?? 0,
  traceId: id,
  organizationId,
  attempts,
  acceptedMs: createdAt,
})
