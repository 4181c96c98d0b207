/** A message whose turn has come under a standing hold: it is held in place of an attempt. */
import { moveEntry, rowAt, type QueueEntry } from '#store/queue.ts'
import type { Core } from '../../core.ts'
import { isStopped, parked, withAct } from '../../trace/acts/queue-acts.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'
import { transact } from '../../writes/transact.ts'
import { isOperators, queueHolds, type QueueHold } from '../../routing/queue-hold.ts'
import { fits } from './queue-walk.ts'

/**
 * False when it is not held after all, as the hold was lifted or the message was changed meanwhile. The write depends on the hold: what is
 * held by it is found by the act that lifts it.
 */
export const holdAtTurn = ({ database, clock }: Pick<Core, 'database' | 'clock'>, entry: QueueEntry, { id }: QueueHold): Promise<boolean> =>
  transact(database, entry, async (change) => {
    const { record: hold } = (await change.get(queueHolds, id)) ?? {}
    const stored = await change.get(traces, entry.traceId)
    const row = await rowAt(database, entry)
    if (!hold || !row || stored?.record.status !== 'queued' || isStopped(stored.record)) return false
    if (!holdsBack(hold, entry, stored.record)) return false
    const held = withAct(parked(stored.record, row.entry.dueMs, row.entry.since), {
      ...{ act: 'hold', at: clock.now(), by: hold.by.id === '' ? hold.by.kind : hold.by.id, reason: hold.reason, actId: id },
      ...(isOperators(hold) && { isOperators: true }),
    })
    change.replace(traces, entry.organizationId, stored, held).check(row.key, row.version)
    moveEntry(change, row.entry, waitingEntry(entry.organizationId, held))
    return true
  })

/**
 * Whether the hold keeps this message from its attempt. One that somebody has released by hand since is let through, so that a single
 * message can be tried; a hold of the operator lets through what the operator released. Pure.
 */
export const holdsBack = (hold: QueueHold, entry: QueueEntry, trace: Trace): boolean =>
  fits(hold.filter, entry, trace) &&
  !trace.queueActs?.some(
    ({ act, at, ofHold, isOperators: byOperator }) =>
      act === 'release' && at >= hold.createdAt && ofHold === undefined && (!isOperators(hold) || byOperator === true),
  )
