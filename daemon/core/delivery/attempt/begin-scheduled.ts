/** The moment from which a scheduled send cannot be canceled any more. */
import type { Database } from '#store/database.ts'
import { queuedAt, type QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'
import { transact } from '../../writes/transact.ts'

/**
 * Marks the trace of a scheduled send as begun, on condition that nothing has changed it, and returns it as it stands then:
 * still queued, or canceled by whoever was quicker. Durable before the provider gets anything. Undefined when it was deleted.
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

/** The send was given another time: the entry stands there. */
export interface Moved {
  readonly moved: QueueEntry
}

/**
 * Where a send that has not begun stands, if that is not the place of the entry, or its time has not come. Who moves it writes the trace
 * too: a write that depends on the trace, read before this, depends on this.
 */
export async function movedTo(database: Database, entry: QueueEntry, trace: Trace, nowMs: number): Promise<Moved | undefined> {
  const place = waitingEntry(entry.organizationId, trace)
  if (trace.sendAt !== undefined && trace.sendAt > nowMs) return { moved: place }
  if (await queuedAt(database, entry)) return undefined
  const moved = await queuedAt(database, place)
  return moved && { moved }
}
