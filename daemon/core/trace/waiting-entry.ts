/** Where a trace that waits for its next attempt stands in the queue. */
import type { QueueEntry } from '#store/queue.ts'
import type { Trace } from './trace.ts'

export const waitingEntry = (organizationId: string, { id, destinationId, nextAttemptAt, attempts }: Trace): QueueEntry => ({
  destinationId: destinationId ?? '',
  dueMs: nextAttemptAt ?? 0,
  traceId: id,
  organizationId,
  attempts,
})
