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

/**
 * Returns when the attempt ended that was final for a recipient: the last one that a server accepted or refused for good. For an unknown
 * recipient, the end of the last attempt; undefined without one.
 */
export async function endOfAttempt(
  database: Database,
  organizationId: string,
  trace: Trace,
  recipient: string | null,
): Promise<number | undefined> {
  const attempts = trace.attempts === 0 ? [] : await readAttempts(database, organizationId, trace)
  const isFinal = ({ recipients = [] }: AttemptRecord): boolean =>
    recipients.some(({ address, verdict }) => address === recipient && (verdict === 'accepted' || verdict === 'permanent'))
  return (attempts.findLast(isFinal) ?? attempts.at(-1))?.endedAt
}
