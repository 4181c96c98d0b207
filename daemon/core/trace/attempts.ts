/** All attempts of a message, regardless of their storage. */
import type { Database } from '#store/database.ts'
import { queuedAt, type QueueEntry } from '#store/queue.ts'
import { readAttemptRows, type AttemptRecord } from './attempt-record.ts'
import type { Trace } from './trace.ts'
import { waitingEntry } from './waiting-entry.ts'

/** Returns all attempts in order: the first from the trace, others from rows, and the started attempt from the queue entry. */
export async function readAttempts(database: Database, organizationId: string, trace: Trace): Promise<AttemptRecord[]> {
  const entry = trace.status === 'queued' ? await queuedAt(database, waitingEntry(organizationId, trace)) : undefined
  const inRows = await readAttemptRows(database, organizationId, trace.id)
  const known = trace.firstAttempt ? [trace.firstAttempt, ...inRows.filter(({ number }) => number > 1)] : inRows
  const begun = entry && begunAttempt(entry, trace)
  return begun && !known.some(({ number }) => number === begun.number) ? [...known, begun] : known
}

/** Returns the started attempt of a queue entry that the trace does not count yet. */
export const begunAttempt = ({ begun, destinationId }: QueueEntry, { attempts }: Trace): AttemptRecord | undefined =>
  begun?.number === attempts + 1 ? { ...begun, destinationId, state: 'started' } : undefined
