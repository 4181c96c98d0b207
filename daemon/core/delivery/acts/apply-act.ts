/**
 * Applies one act to one message. Trace and queue entry change in one write, which requires that no attempt has begun and nothing else has
 * changed them. During an attempt only the trace changes, and the end of the attempt applies the act.
 */
import { dequeue, isHeldPlace, moveEntry, rowAt, type QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { checkNotBegun, readAttempt } from '../../trace/attempt-record.ts'
import { isHoldPending, isParked, type QueueActDone } from '../../trace/acts/act-record.ts'
import { dropped, dueOnRelease, holdOf, parked, withAct } from '../../trace/acts/queue-acts.ts'
import { keepReturnPaths } from '../../trace/return-paths.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'
import type { WebhookEndpoints } from '../../webhooks/endpoint.ts'
import type { Database } from '#store/database.ts'
import type { Transaction } from '../../writes/transact.ts'
import { announceDropped } from './obey.ts'
import type { QueueFilter } from './queue-act.ts'
import { fits } from './queue-walk.ts'

/** `gone`: the message is not in the queue or does not match the filter. `known`: the act was applied before. */
export type Applied = 'acted' | 'inFlight' | 'skipped' | 'gone' | 'known'

export interface Order {
  readonly done: Omit<QueueActDone, 'isLater' | 'attempts'>
  readonly filter: QueueFilter
  readonly webhooks: WebhookEndpoints
}

/** The message at the time of the write. */
interface Found {
  readonly trace: Trace
  readonly entry: QueueEntry
  readonly hasBegun: boolean
  readonly now: number
}

/** Adds the act to the write. `entry` is the entry that becomes due, if any. */
export async function stageAct(
  database: Database,
  change: Transaction,
  place: QueueEntry,
  { done, filter, webhooks }: Order,
): Promise<{ readonly applied: Applied; readonly entry?: QueueEntry }> {
  const { organizationId, traceId } = place
  const stored = await change.get(traces, traceId)
  if (stored?.record.queueActs?.some(({ actId }) => actId === done.actId)) return { applied: 'known' }
  if (stored?.record.status !== 'queued') return { applied: 'gone' }
  const itsPlace = waitingEntry(organizationId, stored.record)
  // an attempt may have moved the entry since the walk read it
  const row = (await rowAt(database, place)) ?? (await rowAt(database, itsPlace))
  // the release of a pending hold keeps the entry's position, which may differ from the trace's after a defect
  const isPending = done.act === 'release' && isHoldPending(stored.record)
  const entry = row?.entry ?? (isPending ? itsPlace : undefined)
  if (!entry || !fits(filter, entry, stored.record)) return { applied: 'gone' }
  const number = stored.record.attempts + 1
  const hasBegun = isPending || entry.begun !== undefined || (await readAttempt(database, organizationId, traceId, number)) !== undefined
  const next = afterAct(done, { trace: stored.record, entry, hasBegun, now: done.at })
  if (!next) return { applied: 'skipped' }
  const isLater = hasBegun && done.act !== 'release'
  const attempts = done.act === 'release' && { attempts: stored.record.attempts }
  const trace = withAct(next, { ...done, ...(isLater && { isLater }), ...attempts })
  change.replace(traces, organizationId, stored, trace)
  if (hasBegun || !row) return { applied: 'inFlight' }
  checkNotBegun(change.check(row.key, row.version), organizationId, traceId, number)
  return move(database, change, { stored, trace, row: row.entry, webhooks })
}

function move(
  database: Database,
  change: Transaction,
  { stored, trace, row, webhooks }: { stored: Stored<Trace>; trace: Trace; row: QueueEntry; webhooks: WebhookEndpoints },
): { readonly applied: Applied; readonly entry?: QueueEntry } {
  const { organizationId } = row
  if (trace.nextAttemptAt === null) {
    dequeue(change, row)
    announceDropped(database, change, webhooks, { organizationId, before: stored.record, after: trace })
    return { applied: 'acted' }
  }
  const place = waitingEntry(organizationId, trace)
  if (trace.held) {
    moveEntry(change, row, place)
    return { applied: 'acted' }
  }
  const since = stored.record.held ? stored.record.held.since : (row.since ?? row.dueMs)
  const next = { ...place, ...(since !== undefined && { since }) }
  moveEntry(change, row, next)
  keepReturnPaths(change, organizationId, trace, Math.max(trace.updatedAt, next.dueMs))
  return { applied: 'acted', entry: next }
}

/** Returns the trace after the act; undefined if the act does not apply. Pure. */
function afterAct(done: Order['done'], found: Found): Trace | undefined {
  const { trace, entry, hasBegun, now } = found
  switch (done.act) {
    case 'hold':
      if (trace.held) return undefined
      return hasBegun ? { ...trace, held: { due: entry.dueMs } } : parked(trace, entry.dueMs, entry.since)
    case 'release': {
      if (!trace.held || (holdOf(trace)?.isOperators && !done.isOperators)) return undefined
      const { held, ...free } = trace
      return isParked(trace) ? { ...free, nextAttemptAt: dueOnRelease(held, now) } : free
    }
    case 'expedite':
      return mayHurry(found) ? { ...trace, nextAttemptAt: now } : undefined
    case 'drop':
      return hasBegun ? { ...trace, isDropped: true } : dropped(trace, now)
  }
}

/** Returns true if the message waits for another attempt and no provider can have it. */
const mayHurry = ({ trace: { held, sendAt, begunAt, recipients }, entry, hasBegun, now }: Found): boolean =>
  !held &&
  !hasBegun &&
  entry.dueMs > now &&
  !isHeldPlace(entry.dueMs) &&
  (sendAt === undefined || begunAt !== undefined) &&
  recipients.every(({ status, unknownAttempts = 0 }) => status !== 'queued' || unknownAttempts === 0)
