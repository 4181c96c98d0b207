/** Acts of people on a queued message: hold, release, expedite, drop. Pure. */
import { heldPlace } from '#store/queue.ts'
import { advance, worstStatus } from '../states.ts'
import type { Trace } from '../trace.ts'
import type { QueueActDone } from './act-record.ts'

type Fields = Pick<Trace, 'held' | 'isDropped' | 'nextAttemptAt'>

/** Returns true if a hold or drop prevents the next attempt. */
export const isStopped = ({ held, isDropped }: Fields): boolean => held !== undefined || isDropped === true

/** Returns the due time of the next attempt; null without one, or while held. */
export const dueAt = ({ held, nextAttemptAt }: Fields): number | null => (held ? null : nextAttemptAt)

/** Maximum acts stored in a trace, far above the number in practice; the oldest are dropped. */
const actsKept = 20

/** Returns the trace with the act added. */
export const withAct = (trace: Trace, done: QueueActDone): Trace => ({
  ...trace,
  updatedAt: done.at,
  queueActs: [...(trace.queueActs ?? []), done].slice(-actsKept),
})

/** Returns the trace moved to the held position of the queue. `due` and `since` come from the moved entry. */
export const parked = (trace: Trace, due: number, since: number | undefined): Trace => ({
  ...trace,
  held: { due, ...(since !== undefined && { since }) },
  nextAttemptAt: heldPlace(since ?? due),
})

/**
 * Returns the due time of a released message. A future retry or scheduled send keeps its time. Any other message returns to its position by
 * the first due time.
 */
export const dueOnRelease = ({ due, since = due }: NonNullable<Trace['held']>, now: number): number => (due > now ? due : since)

/** Cancels the remaining recipients of a trace. Recipients that already received the message keep their status. */
export function dropped(trace: Trace, now: number): Trace {
  const { held: _, isDropped: __, scheduledAddresses: ___, ...kept } = trace
  const recipients = trace.recipients.map((one) => (one.status === 'queued' ? { ...one, status: advance(one.status, 'canceled') } : one))
  return { ...kept, recipients, status: worstStatus(recipients.map(({ status }) => status)), nextAttemptAt: null, updatedAt: now }
}

/** Returns the act that dropped the message. */
export const dropOf = ({ queueActs: done }: Pick<Trace, 'queueActs'>): QueueActDone | undefined =>
  done?.findLast(({ act }) => act === 'drop')

/** Returns the act that holds the message now, or undefined. */
export const holdOf = ({ queueActs: done, held }: Pick<Trace, 'queueActs' | 'held'>): QueueActDone | undefined =>
  held && done?.findLast(({ act }) => act === 'hold')

/** Returns author and reason, as the end of a sentence. */
export const whoAndWhy = ({ by, reason }: Pick<QueueActDone, 'by' | 'reason'>): string =>
  reason === null ? `by ${by}` : `by ${by}: ${reason.replace(/[.\s]+$/, '')}`
