/** An act on a queued message, as stored in its trace. */
import { isHeldPlace } from '#store/queue.ts'
import type { Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

export const queueActs = ['hold', 'release', 'expedite', 'drop'] as const
export type QueueActName = (typeof queueActs)[number]

/** One act. `by`: id of the key or person, `operator`, or the id of the user who acts as operator. */
export const queueActDone = z.strictObject({
  act: z.enum(queueActs),
  at: z.int(),
  by: z.string(),
  reason: z.string().nullable(),
  /** The queue act that this is part of, or the standing hold that holds the message. */
  actId: z.string(),
  /** For a release: the standing hold that was released. */
  ofHold: z.string().optional(),
  /** Made by the operator of the service. Only the operator can release such a hold. */
  isOperators: z.literal(true).optional(),
  /** An attempt was in flight; the act applies at its end. */
  isLater: z.literal(true).optional(),
  /** For a release: attempts before it, because it restarts the retry schedule. */
  attempts: z.int().optional(),
})
export type QueueActDone = Immutable<z.infer<typeof queueActDone>>

/** A held message: its due time after release, and the start of its wait. */
export const heldBack = z.strictObject({ due: z.int(), since: z.int().optional() })

interface Held {
  readonly held?: Immutable<z.infer<typeof heldBack>> | undefined
  readonly nextAttemptAt: number | null
}

/** Returns true if the entry is at the held position, which never becomes due. */
export const isParked = ({ held, nextAttemptAt }: Held): boolean =>
  held !== undefined && nextAttemptAt !== null && isHeldPlace(nextAttemptAt)

/** Returns true if the hold only applies at the end of the attempt in flight; the entry is not parked yet. */
export const isHoldPending = (trace: Held): boolean => trace.held !== undefined && !isParked(trace)
