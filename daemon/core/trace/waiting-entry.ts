/** Where a trace that waits for its next attempt stands in the queue. */
import type { QueueEntry } from '#store/queue.ts'
import type { Element } from '#store/tuple.ts'
import { inTime, type Trace } from './trace.ts'

/** Where those wait that go to no destination: scheduled sends that will be captured, and messages that a person has to approve. */
export const noDestination = ''

/** The place of the record of a message that waits, for reads without a look-up of its id; undefined when the row does not have it. */
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
