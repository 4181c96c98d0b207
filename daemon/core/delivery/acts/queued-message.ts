/** A queued message as shown to people. Pure. */
import { isHeldPlace } from '#store/queue.ts'
import { dueAt, holdOf } from '../../trace/acts/queue-acts.ts'
import type { Waiting } from './queue-walk.ts'

/**
 * `due`: waits for its turn. `attempting`: an attempt is in flight, or was when the process ended. `retry`: waits for its next attempt.
 * `scheduled`: waits for its `sendAt`. `held`: waits for its release.
 */
export const queueStates = ['due', 'attempting', 'retry', 'scheduled', 'held'] as const

export interface QueuedMessage {
  readonly traceId: string
  readonly destinationId: string
  readonly projectId: string
  readonly state: (typeof queueStates)[number]
  readonly nextAttemptAt: number | null
  readonly attempts: number
  readonly from: string
  /** Recipients that still wait. */
  readonly to: readonly string[]
  /** Last server reply about one of these recipients. */
  readonly lastReply: string | null
  readonly held: { readonly at: number; readonly by: string; readonly reason: string | null } | null
  readonly createdAt: number
}

export function queuedMessage({ entry, stored: { record } }: Waiting, nowMs: number): QueuedMessage {
  const waiting = record.recipients.filter(({ status }) => status === 'queued')
  const reply = waiting.findLast((one) => one.reply)?.reply
  const hold = holdOf(record)
  const { destinationId, projectId } = entry
  return {
    ...{ traceId: record.id, destinationId, projectId, state: stateOf({ entry, stored: { record } }, nowMs) },
    ...{ nextAttemptAt: dueAt(record), attempts: record.attempts, from: record.headerFrom, to: waiting.map(({ address }) => address) },
    lastReply: reply ? `${reply.code} ${reply.text}` : null,
    held: hold ? { at: hold.at, by: hold.by, reason: hold.reason } : null,
    createdAt: record.createdAt,
  }
}

type Place = Pick<Waiting, 'entry'> & { readonly stored: Pick<Waiting['stored'], 'record'> }

function stateOf({ entry, stored: { record } }: Place, nowMs: number): QueuedMessage['state'] {
  if (isHeldPlace(entry.dueMs)) return 'held'
  if (entry.begun) return 'attempting'
  if (entry.dueMs <= nowMs) return 'due'
  return record.sendAt !== undefined && record.begunAt === undefined ? 'scheduled' : 'retry'
}
