/** Indexes pending holds in the store of a release without this index. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { heldDueMs, queuedParts, queueHead, type QueueEntry } from '#store/queue.ts'
import { indexPrefix } from '#store/record-kind.ts'
import { isHoldPending } from '../../trace/acts/act-record.ts'
import { traces } from '../../trace/trace.ts'

/** Entries per read. */
const stepRows = 200

/** Idempotent. Returns the number of pending holds. */
export async function indexPendingHolds(database: Database): Promise<number> {
  let indexed = 0
  for (const part of await queuedParts(database)) {
    let entries: readonly QueueEntry[] = []
    do {
      const last = entries.at(-1)
      const from = last && { dueMs: last.dueMs, traceId: `${last.traceId}\0` }
      entries = await queueHead(database, part, { from, untilMs: heldDueMs - 1, limit: stepRows })
      indexed += await indexOf(database, entries)
    } while (entries.length === stepRows)
  }
  return indexed
}

async function indexOf(database: Database, entries: readonly QueueEntry[]): Promise<number> {
  const change = new Change()
  for (const [organizationId, own] of Map.groupBy(entries, (entry) => entry.organizationId)) {
    const ids = own.map(({ traceId }) => traceId)
    for (const stored of await database.getMany(traces, { organizationId }, ids))
      if (stored && isHoldPending(stored.record)) change.set([...indexPrefix(traces.name, organizationId, 'pendingHold'), stored.record.id])
  }
  if (change.sets.length > 0) await database.commit(change)
  return change.sets.length
}
