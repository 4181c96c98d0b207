/** A message that was held or dropped while it was in memory or an attempt was under way: it goes where that says. */
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

/** Instead of an attempt. Returns the entry that stands in the queue now and becomes due. */
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

/** Where the message stands whose trace has changed since `entry` was read: somebody may have moved it. */
export const standing = async (database: Database, entry: QueueEntry, trace: Trace): Promise<QueueEntry> =>
  (await queuedAt(database, entry)) ?? (await queuedAt(database, waitingEntry(entry.organizationId, trace))) ?? entry

/** What an attempt leaves of a message that was held or dropped meanwhile; `entry` is its place while the attempt ends. */
export function afterActs(trace: Trace, entry: QueueEntry, now: number): Trace {
  if (!isStopped(trace)) return trace
  if (trace.status !== 'queued' || trace.nextAttemptAt === null) return settled(trace)
  if (trace.isDropped) return dropped(trace, now)
  return parked(trace, trace.nextAttemptAt, entry.since ?? trace.held?.since ?? trace.held?.due)
}

/** Nothing is left to hold or to drop. */
function settled({ held: _, isDropped: __, ...trace }: Trace): Trace {
  return trace
}

/** Moves the entry to the place of the next attempt. Returns it, unless it is held there. */
export function putOffOrPark(change: Change, entry: QueueEntry, next: QueueEntry, trace: Trace): QueueEntry | undefined {
  if (!trace.held) return putOff(change, entry, next)
  moveEntry(change, entry, waitingEntry(entry.organizationId, trace))
  return undefined
}

/** Announces to webhooks that the recipients it was dropped for do not get the message. */
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
