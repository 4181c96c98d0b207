/** Holds a message instead of attempting it, if a standing hold matches at its turn. */
import { moveEntry, rowAt, type QueueEntry } from '#store/queue.ts'
import type { Core } from '../../core.ts'
import { isStopped, parked, withAct } from '../../trace/acts/queue-acts.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'
import { transact } from '../../writes/transact.ts'
import { isOperators, queueHolds, type QueueHold } from '../../routing/queue-hold.ts'
import { fits } from './queue-walk.ts'

/**
 * Returns false if the hold was released or the message has changed. The write depends on the hold, so that its release finds the message.
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
 * Returns true if the hold applies to this message. A message released by hand since the hold is exempt, so that a single message can be
 * tried. For a hold of the operator, only the operator's release counts. Pure.
 */
export const holdsBack = (hold: QueueHold, entry: QueueEntry, trace: Trace): boolean =>
  fits(hold.filter, entry, trace) &&
  !trace.queueActs?.some(
    ({ act, at, ofHold, isOperators: byOperator }) =>
      act === 'release' && at >= hold.createdAt && ofHold === undefined && (!isOperators(hold) || byOperator === true),
  )
