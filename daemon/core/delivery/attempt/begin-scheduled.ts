/** Marks a scheduled send as begun. From then on it can no longer be canceled. */
import type { Database } from '#store/database.ts'
import { queuedAt, type QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'
import { transact } from '../../writes/transact.ts'

/**
 * Marks a scheduled send as begun if its trace is unchanged, and returns the current trace: still queued, or canceled first. Durable before
 * the provider receives data. Undefined if the trace was deleted.
 */
export async function beginScheduled(database: Database, entry: QueueEntry, nowMs: number): Promise<Stored<Trace> | Moved | undefined> {
  const moved = await transact(database, entry, async (change) => {
    const stored = await change.get(traces, entry.traceId)
    if (stored?.record.status !== 'queued' || stored.record.begunAt !== undefined) return undefined
    const elsewhere = await movedTo(database, entry, stored.record, nowMs)
    if (!elsewhere) change.replace(traces, entry.organizationId, stored, { ...stored.record, begunAt: nowMs })
    return elsewhere
  })
  return moved ?? database.get(traces, entry, entry.traceId)
}

/** The send was rescheduled to this entry. */
export interface Moved {
  readonly moved: QueueEntry
}

/**
 * Returns the current entry of a send that was moved or is not due yet. Every move also writes the trace, so a write that depends on the
 * trace read earlier also depends on this result.
 */
export async function movedTo(database: Database, entry: QueueEntry, trace: Trace, nowMs: number): Promise<Moved | undefined> {
  const place = waitingEntry(entry.organizationId, trace)
  if (trace.sendAt !== undefined && trace.sendAt > nowMs) return { moved: place }
  if (await queuedAt(database, entry)) return undefined
  const moved = await queuedAt(database, place)
  return moved && { moved }
}
