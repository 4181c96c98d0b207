/** Results of the latest attempts to a receiver of webhooks: an endpoint or an inbound route. Part of the write of each attempt. */
import { defineRecord, type Immutable, type Stored } from '#store/record-kind.ts'
import * as z from 'zod'
import type { Transaction } from '../writes/transact.ts'

const schema = z.strictObject({
  /** Id of the endpoint or of the route. */
  id: z.string(),
  /** Time of the latest success, to the minute; null until then. */
  lastSuccessAt: z.int().nullable(),
  /** Failed attempts since the latest success, and the time of the first one. */
  failures: z.int(),
  failingSince: z.int().nullable(),
  /** Status of the latest response, `no_response`, or `not_sent` if no request was made. */
  lastReply: z.string(),
})

export type ReceiverHealth = Immutable<z.infer<typeof schema>>

export const receiverHealth = defineRecord<ReceiverHealth>({ name: 'receiver_health', noun: 'receiver of webhooks', schema })

/** The result of an attempt. `error` is null on success; `body` is absent if nothing was sent. */
export interface AttemptSeen {
  readonly statusCode: number | null
  readonly error: string | null
  readonly body?: string
}

/** Successes of an endpoint without failures are written once in this time, so that concurrent attempts rarely conflict. */
const successMs = 60_000

/** Adds the result of an attempt to the write of the attempt. */
export async function noteAttempt(change: Transaction, organizationId: string, id: string, seen: AttemptSeen, now: number): Promise<void> {
  const stored = await change.get(receiverHealth, id)
  const next = afterAttempt(stored, id, seen, now)
  if (!stored) change.insert(receiverHealth, organizationId, next)
  else if (next !== stored.record) change.replace(receiverHealth, organizationId, stored, next)
}

function afterAttempt(
  stored: Stored<ReceiverHealth> | undefined,
  id: string,
  { statusCode, error, body }: AttemptSeen,
  now: number,
): ReceiverHealth {
  const { lastSuccessAt = null, failures = 0, failingSince = null } = stored?.record ?? {}
  const lastReply = statusCode === null ? (body === undefined ? 'not_sent' : 'no_response') : String(statusCode)
  if (error !== null) return { id, lastSuccessAt, failures: failures + 1, failingSince: failingSince ?? now, lastReply }
  if (stored && failures === 0 && lastSuccessAt !== null && Math.abs(now - lastSuccessAt) < successMs) return stored.record
  return { id, lastSuccessAt: now, failures: 0, failingSince: null, lastReply }
}
