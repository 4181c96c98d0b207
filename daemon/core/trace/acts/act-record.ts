/** An act on a message in the queue, as its trace keeps it. */
import { isHeldPlace } from '#store/queue.ts'
import type { Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

export const queueActs = ['hold', 'release', 'expedite', 'drop'] as const
export type QueueActName = (typeof queueActs)[number]

/** One act; `by` is the id of the key or person, `operator`, or that of the user who acts as one. */
export const queueActDone = z.strictObject({
  act: z.enum(queueActs),
  at: z.int(),
  by: z.string(),
  reason: z.string().nullable(),
  /** The act on the queue that this one is part of; of what a standing hold holds, that one. */
  actId: z.string(),
  /** Of a release, the standing hold that was lifted by it. */
  ofHold: z.string().optional(),
  /** By the operator of the service, who alone releases what they hold. */
  isOperators: z.literal(true).optional(),
  /** An attempt was under way, and the act takes effect when that ends. */
  isLater: z.literal(true).optional(),
  /** Of a release, the attempts made before it: the schedule of retries begins anew with it. */
  attempts: z.int().optional(),
})
export type QueueActDone = Immutable<z.infer<typeof queueActDone>>

/** A message that is held: when it is due once it is released, and since when it had waited for a further attempt. */
export const heldBack = z.strictObject({ due: z.int(), since: z.int().optional() })

interface Held {
  readonly held?: Immutable<z.infer<typeof heldBack>> | undefined
  readonly nextAttemptAt: number | null
}

/** Whether its entry stands where nothing becomes due. */
export const isParked = ({ held, nextAttemptAt }: Held): boolean =>
  held !== undefined && nextAttemptAt !== null && isHeldPlace(nextAttemptAt)

/** Whether the hold takes effect only when the attempt under way ends: the entry is not parked yet. */
export const isHoldPending = (trace: Held): boolean => trace.held !== undefined && !isParked(trace)
