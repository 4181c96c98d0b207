/** Where a trace that waits for its next attempt stands in the queue. */
import type { QueueEntry } from '#store/queue.ts'
import type { Trace } from './trace.ts'

export const waitingEntry = (organizationId: string, { id, projectId, destinationId, nextAttemptAt, attempts }: Trace): QueueEntry => ({
  destinationId: destinationId ?? '',
  projectId,
  dueMs: nextAttemptAt ?? 0,
  traceId: id,
  organizationId,
  attempts,
})
