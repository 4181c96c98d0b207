/** The moment from which a scheduled send cannot be canceled any more. */
import type { Database } from '#store/database.ts'
import type { QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { transact } from '../../writes/transact.ts'

/**
 * Marks the trace of a scheduled send as begun, on condition that nothing has changed it, and returns it as it stands then:
 * still queued, or canceled by whoever was quicker. Durable before the provider gets anything. Undefined when it was deleted.
 */
export async function beginScheduled(database: Database, entry: QueueEntry, nowMs: number): Promise<Stored<Trace> | undefined> {
  await transact(database, entry, async (change) => {
    const stored = await change.get(traces, entry.traceId)
    if (stored?.record.status !== 'queued' || stored.record.begunAt !== undefined) return
    change.replace(traces, entry.organizationId, stored, { ...stored.record, begunAt: nowMs })
  })
  return database.get(traces, entry, entry.traceId)
}
