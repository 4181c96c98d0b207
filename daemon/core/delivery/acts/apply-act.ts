/**
 * Carries one act out at one message: its trace and its entry of the queue change in one write, on condition that neither an attempt has
 * begun meanwhile nor anyone else has changed them. With an attempt under way the trace alone changes, and its end obeys.
 */
import { dequeue, heldDueMs, moveEntry, rowAt, type QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { checkNotBegun, readAttempt } from '../../trace/attempt-record.ts'
import type { QueueActDone } from '../../trace/acts/act-record.ts'
import { dropped, holdOf, isParked, parked, withAct } from '../../trace/acts/queue-acts.ts'
import { keepReturnPaths } from '../../trace/return-paths.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'
import type { WebhookEndpoints } from '../../webhooks/endpoint.ts'
import type { Database } from '#store/database.ts'
import type { Transaction } from '../../writes/transact.ts'
import { announceDropped } from './obey.ts'

/** `gone`: it does not stand there any more; `known`: this act was done before. */
export type Applied = 'acted' | 'inFlight' | 'skipped' | 'gone' | 'known'

export interface Order {
  readonly done: Omit<QueueActDone, 'isLater' | 'attempts'>
  readonly webhooks: WebhookEndpoints
}

/** The message as the write finds it. */
interface Found {
  readonly trace: Trace
  readonly row: QueueEntry
  readonly hasBegun: boolean
  readonly now: number
}

/** Adds the act to the write. `entry` is what becomes due by it, if anything. */
export async function stageAct(
  database: Database,
  change: Transaction,
  place: QueueEntry,
  { done, webhooks }: Order,
): Promise<{ readonly applied: Applied; readonly entry?: QueueEntry }> {
  const { organizationId, traceId } = place
  const [stored, row] = [await change.get(traces, traceId), await rowAt(database, place)]
  if (stored?.record.queueActs?.some(({ actId }) => actId === done.actId)) return { applied: 'known' }
  if (!stored || !row || stored.record.status !== 'queued') return { applied: 'gone' }
  const number = stored.record.attempts + 1
  const hasBegun = row.entry.begun !== undefined || (await readAttempt(database, organizationId, traceId, number)) !== undefined
  const next = afterAct(done, { trace: stored.record, row: row.entry, hasBegun, now: done.at })
  if (!next) return { applied: 'skipped' }
  const isLater = hasBegun && done.act !== 'release'
  const attempts = done.act === 'release' && { attempts: stored.record.attempts }
  const trace = withAct(next, { ...done, ...(isLater && { isLater }), ...attempts })
  change.replace(traces, organizationId, stored, trace)
  if (hasBegun) return { applied: 'inFlight' }
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
  keepReturnPaths(change, organizationId, trace, next.dueMs)
  return { applied: 'acted', entry: next }
}

/** The trace after the act; undefined when that does not apply. Pure. */
function afterAct(done: Order['done'], found: Found): Trace | undefined {
  const { trace, row, hasBegun, now } = found
  switch (done.act) {
    case 'hold':
      if (trace.held) return undefined
      return hasBegun ? { ...trace, held: { due: row.dueMs } } : parked(trace, row.dueMs, row.since)
    case 'release': {
      if (!trace.held || (holdOf(trace)?.isOperators && !done.isOperators)) return undefined
      const { held, ...free } = trace
      return isParked(trace) ? { ...free, nextAttemptAt: Math.max(now, held.due) } : free
    }
    case 'expedite':
      return mayHurry(found) ? { ...trace, nextAttemptAt: now } : undefined
    case 'drop':
      return hasBegun ? { ...trace, isDropped: true } : dropped(trace, now)
  }
}

/** It waits for a further attempt, and no one can have the message already. */
const mayHurry = ({ trace: { held, sendAt, begunAt, recipients }, row, hasBegun, now }: Found): boolean =>
  !held &&
  !hasBegun &&
  row.dueMs > now &&
  row.dueMs < heldDueMs &&
  (sendAt === undefined || begunAt !== undefined) &&
  recipients.every(({ status, unknownAttempts = 0 }) => status !== 'queued' || unknownAttempts === 0)
