/** Checks the suppression list again before an attempt, because it may have grown while the message waited. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { dequeue, dequeueIfThere, type QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Clock } from '../../clock.ts'
import { suppressionsAgainst, withoutSuppressed } from '../../feedback/suppression/suppressed-recipients.ts'
import { isStopped } from '../../trace/acts/queue-acts.ts'
import { withNotice } from '../../trace/notices/due-notices.ts'
import { traces, type Trace } from '../../trace/trace.ts'

/**
 * Removes recipients of a queued message that were suppressed since. Returns the message; a held or dropped message stays unchanged.
 * Returns undefined, and deletes the queue entry, if no recipient remains or the message has ended.
 */
export async function applySuppressions(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  entry: QueueEntry,
  first: Stored<Trace>,
): Promise<Stored<Trace> | undefined> {
  const nowMs = clock.now()
  let stored: Stored<Trace> | undefined = first
  while (stored?.record.status === 'queued') {
    if (isStopped(stored.record)) return stored // its entry may have moved
    const hits = await suppressionsAgainst(database, entry.organizationId, stored.record, nowMs)
    if (hits.size === 0) return stored
    const change = new Change()
    const left = withoutSuppressed(stored.record, hits, nowMs)
    const trace = withNotice(change, entry.organizationId, stored.record, left, nowMs)
    change.rewrite(traces, entry.organizationId, stored, trace)
    const done = trace.status !== 'queued'
    if (done) dequeue(change, entry)
    if ((await database.commit(change)).ok && done) return undefined
    stored = await database.get(traces, entry, entry.traceId)
  }
  await database.commit(await dequeueIfThere(database, new Change(), entry))
  return undefined
}
