/** Applies a hold or drop to a message that was in memory or had an attempt in flight at the time of the act. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { dequeueIfThere, enqueue, moveEntry, putOff, queuedAt, type QueueEntry } from '#store/queue.ts'
import type { Core } from '../../core.ts'
import { isParked, type QueueActDone } from '../../trace/acts/act-record.ts'
import { dropped, dropOf, isStopped, parked, whoAndWhy } from '../../trace/acts/queue-acts.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'
import type { WebhookEndpoints } from '../../webhooks/endpoint.ts'
import { announce } from '../../webhooks/events/announce.ts'
import { transact } from '../../writes/transact.ts'

/** Applies the act instead of an attempt. Returns the current queue entry if it becomes due. */
export async function obeyAct(
  { database, clock, policies }: Pick<Core, 'database' | 'clock' | 'policies'>,
  entry: QueueEntry,
): Promise<QueueEntry | undefined> {
  const { webhooks } = await policies.of(entry.organizationId)
  const trace = await transact(database, entry, async (change) => {
    const stored = await change.get(traces, entry.traceId)
    const record = stored?.record
    if (!stored || record?.status !== 'queued') {
      await dequeueIfThere(database, change, entry)
      if (stored && isStopped(stored.record)) change.replace(traces, entry.organizationId, stored, settled(stored.record))
      return undefined
    }
    if (record.isDropped) {
      const ended = dropped(record, clock.now())
      change.replace(traces, entry.organizationId, stored, ended)
      announceDropped(database, change, webhooks, { organizationId: entry.organizationId, before: record, after: ended })
      await dequeueIfThere(database, change, entry)
      return undefined
    }
    if (!record.held || isParked(record)) return record
    const there = await queuedAt(database, entry)
    await dequeueIfThere(database, change, entry)
    const held = parked(record, entry.dueMs, there?.since ?? entry.since)
    change.replace(traces, entry.organizationId, stored, held)
    enqueue(change, waitingEntry(entry.organizationId, held))
    return held
  })
  if (!trace || trace.held) return undefined
  return (await queuedAt(database, entry)) ?? queuedAt(database, waitingEntry(entry.organizationId, trace))
}

/** Returns the current entry of a message whose trace has changed in the meantime and which may have been moved. */
export const standing = async (database: Database, entry: QueueEntry, trace: Trace): Promise<QueueEntry> =>
  (await queuedAt(database, entry)) ?? (await queuedAt(database, waitingEntry(entry.organizationId, trace))) ?? entry

/** Returns the trace after an attempt with a hold or drop in the meantime. `entry` is its position at the end of the attempt. */
export function afterActs(trace: Trace, entry: QueueEntry, now: number): Trace {
  if (!isStopped(trace)) return trace
  if (trace.status !== 'queued' || trace.nextAttemptAt === null) return settled(trace)
  if (trace.isDropped) return dropped(trace, now)
  return parked(trace, trace.nextAttemptAt, entry.since ?? trace.held?.since ?? trace.held?.due)
}

/** Removes hold and drop from a message that has ended. */
function settled({ held: _, isDropped: __, ...trace }: Trace): Trace {
  return trace
}

/**
 * Moves the entry to the position of the next attempt and returns it. Moves the entry of a held message to the held position and returns
 * undefined.
 */
export function putOffOrPark(change: Change, entry: QueueEntry, next: QueueEntry, trace: Trace): QueueEntry | undefined {
  if (!trace.held) return putOff(change, entry, next)
  moveEntry(change, entry, waitingEntry(entry.organizationId, trace))
  return undefined
}

/** Sends webhook events for the recipients that a drop has canceled. */
export function announceDropped(
  database: Database,
  change: Change,
  endpoints: WebhookEndpoints,
  { organizationId, before, after }: { readonly organizationId: string; readonly before: Trace; readonly after: Trace },
): void {
  const drop = dropOf(after)
  if (!endpoints.has(after.projectId) || !drop) return
  for (const [i, recipient] of after.recipients.entries()) {
    if (recipient.status !== 'canceled' || before.recipients[i]?.status === 'canceled') continue
    announce(database, change, endpoints, {
      organizationId,
      type: 'failed',
      trace: { ...after, recipients: [recipient] },
      recipient: recipient.address,
      reason: reasonOf(drop),
      at: after.updatedAt,
    })
  }
}

const reasonOf = (drop: QueueActDone): string => `Dropped from the queue ${whoAndWhy(drop)}.`
