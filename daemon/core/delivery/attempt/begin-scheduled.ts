/** The moment from which a scheduled send cannot be canceled any more. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { traces, type Trace } from '../../trace/trace.ts'

/**
 * Marks the trace of a scheduled send as begun, on condition that nothing has changed it, and returns it as it stands then:
 * still queued, or canceled by whoever was quicker. Durable before the provider hears anything. Undefined when it was deleted.
 */
export async function beginScheduled(
  database: Database,
  entry: QueueEntry,
  read: Stored<Trace>,
  nowMs: number,
): Promise<Stored<Trace> | undefined> {
  let stored: Stored<Trace> | undefined = read
  while (stored && stored.record.status === 'queued' && stored.record.begunAt === undefined) {
    await database.commit(new Change().replace(traces, entry.organizationId, stored, { ...stored.record, begunAt: nowMs }))
    stored = await database.get(traces, entry, entry.traceId)
  }
  return stored
}
