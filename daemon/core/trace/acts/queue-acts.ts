/** What people do with a message while it is queued: hold it, release it, expedite its retry, drop it. Pure. */
import { heldPlace } from '#store/queue.ts'
import { advance, worstStatus } from '../states.ts'
import type { Trace } from '../trace.ts'
import type { QueueActDone } from './act-record.ts'

type Fields = Pick<Trace, 'held' | 'isDropped' | 'nextAttemptAt'>

/** Whether what was done with it in the queue keeps the next attempt from being made. */
export const isStopped = ({ held, isDropped }: Fields): boolean => held !== undefined || isDropped === true

/** When its next attempt is due; null when none is, or when it is held. */
export const dueAt = ({ held, nextAttemptAt }: Fields): number | null => (held ? null : nextAttemptAt)

/** The latest acts, at least as many as a message can have in one life that anybody follows. */
const actsKept = 20

/** The trace with one more act. An act on the queue is noted once. */
export const withAct = (trace: Trace, done: QueueActDone): Trace => ({
  ...trace,
  updatedAt: done.at,
  queueActs: [...(trace.queueActs ?? []), done].slice(-actsKept),
})

/** The place of a held message in the queue; `due` and `since` are those of the entry that goes there. */
export const parked = (trace: Trace, due: number, since: number | undefined): Trace => ({
  ...trace,
  held: { due, ...(since !== undefined && { since }) },
  nextAttemptAt: heldPlace(since ?? due),
})

/**
 * The due time of a message that is released: a retry or scheduled send of the future keeps its time. Any other message takes the place
 * in line that it had when its first attempt was due.
 */
export const dueOnRelease = ({ due, since = due }: NonNullable<Trace['held']>, now: number): number => (due > now ? due : since)

/** The trace of a message that goes to no one any more: who has it keeps that, and the others are canceled. */
export function dropped(trace: Trace, now: number): Trace {
  const { held: _, isDropped: __, scheduledAddresses: ___, ...kept } = trace
  const recipients = trace.recipients.map((one) => (one.status === 'queued' ? { ...one, status: advance(one.status, 'canceled') } : one))
  return { ...kept, recipients, status: worstStatus(recipients.map(({ status }) => status)), nextAttemptAt: null, updatedAt: now }
}

/** The act by which it was dropped. */
export const dropOf = ({ queueActs: done }: Pick<Trace, 'queueActs'>): QueueActDone | undefined =>
  done?.findLast(({ act }) => act === 'drop')

/** The act by which it is held now; undefined when it is not. */
export const holdOf = ({ queueActs: done, held }: Pick<Trace, 'queueActs' | 'held'>): QueueActDone | undefined =>
  held && done?.findLast(({ act }) => act === 'hold')

/** Who did it and why, as the end of a sentence. */
export const whoAndWhy = ({ by, reason }: Pick<QueueActDone, 'by' | 'reason'>): string =>
  reason === null ? `by ${by}` : `by ${by}: ${reason.replace(/[.\s]+$/, '')}`
