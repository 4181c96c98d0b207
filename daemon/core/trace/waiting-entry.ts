/** Where a trace that waits for its next attempt stands in the queue. */
import type { QueueEntry } from '#store/queue.ts'
import type { Trace } from './trace.ts'

/** Where scheduled sends wait that will be captured: they go to no destination. */
export const noDestination = ''

export const waitingEntry = (
  organizationId: string,
  { id, projectId, outcome, destinationId, nextAttemptAt, attempts }: Trace,
): QueueEntry => ({
  destinationId: (outcome === 'relayed' ? destinationId : null) ?? noDestination,
  projectId,
  dueMs: nextAttemptAt ?? 0,
  traceId: id,
  organizationId,
  attempts,
})
