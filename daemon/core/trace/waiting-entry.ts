/** Where a trace that waits for its next attempt stands in the queue. */
import type { QueueEntry } from '#store/queue.ts'
import type { Trace } from './trace.ts'

/** Where those wait that go to no destination: scheduled sends that will be captured, and messages that a person has to approve. */
export const noDestination = ''

export const waitingEntry = (
  organizationId: string,
  { id, projectId, status, outcome, destinationId, nextAttemptAt, attempts }: Trace,
): QueueEntry => ({
  destinationId: (outcome === 'relayed' && status !== 'pending' ? destinationId : null) ?? noDestination,
  projectId,
  dueMs: nextAttemptAt ?? 0,
  traceId: id,
  organizationId,
  attempts,
})
