/** A message whose approval was not given in time. */
import { dequeueIfThere, type QueueEntry } from '#store/queue.ts'
import type { Core } from '../../core.ts'
import { afterDecision, waitsForApproval } from '../../trace/approval/held-trace.ts'
import { stageDecision, type FollowDecision } from '../../trace/approval/stage-decision.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { noDestination } from '../../trace/waiting-entry.ts'
import { transact } from '../../writes/transact.ts'

/** Whether the entry is that of the end of an approval; it can still be in memory when the message was approved and stands elsewhere. */
export const isOfApproval = ({ destinationId }: QueueEntry, { status, outcome }: Trace): boolean =>
  status === 'pending' || (destinationId === noDestination && outcome === 'relayed')

/**
 * Cancels it, on condition that nothing has changed the trace, so that of this and an approval exactly one happens. Returns the entry
 * while its time has not come, as the clock was set back.
 */
export async function expireApproval(
  { database, clock, followDecision }: Pick<Core, 'database' | 'clock'> & { readonly followDecision: FollowDecision },
  entry: QueueEntry,
): Promise<QueueEntry | undefined> {
  return transact(database, entry, async (change) => {
    const stored = await change.get(traces, entry.traceId)
    const now = clock.now()
    const held = stored && waitsForApproval(stored.record) ? stored.record : undefined
    if (held && held.approval.expiresAt > now) return entry
    if (stored && held) {
      const expired = afterDecision(held, { as: 'expired', at: now, by: '' })
      stageDecision(change, entry.organizationId, stored, expired)
      await followDecision(database, change, entry.organizationId, expired)
    }
    await dequeueIfThere(database, change, entry)
    return undefined
  })
}
