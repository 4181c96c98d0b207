/** Cancels a message whose approval has expired. */
import { dequeueIfThere, type QueueEntry } from '#store/queue.ts'
import type { Core } from '../../core.ts'
import { afterDecision, waitsForApproval } from '../../trace/approval/held-trace.ts'
import { stageDecision, type FollowDecision } from '../../trace/approval/stage-decision.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { noDestination } from '../../trace/waiting-entry.ts'
import { transact } from '../../writes/transact.ts'

/** Returns true for the entry that ends an approval. It may still be in memory after the approval has moved the message. */
export const isOfApproval = ({ destinationId }: QueueEntry, { status, outcome }: Trace): boolean =>
  status === 'pending' || (destinationId === noDestination && outcome === 'relayed')

/**
 * Cancels the message in a write that requires an unchanged trace, so that exactly one of expiry and approval succeeds. Returns the entry
 * if its time has not come, because the clock was set back.
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
