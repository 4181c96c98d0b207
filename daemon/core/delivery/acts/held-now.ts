/** Counts held messages of the whole service, and finds the oldest hold. */
import type { Database } from '#store/database.ts'
import { heldDueMs, heldLength, queuedParts, queueHead } from '#store/queue.ts'
import { holdOf } from '../../trace/acts/queue-acts.ts'
import { traces } from '../../trace/trace.ts'

export interface HeldNow {
  readonly count: number
  /** Earliest hold among the oldest messages of each queue part; undefined without held messages. */
  readonly since: number | undefined
}

export async function heldNow(database: Database): Promise<HeldNow> {
  const count = await heldLength(database)
  if (count === 0) return { count, since: undefined }
  const times: number[] = []
  for (const part of await queuedParts(database)) {
    for (const { organizationId, traceId } of await queueHead(database, part, { from: { dueMs: heldDueMs, traceId: '' }, limit: 1 })) {
      const stored = await database.get(traces, { organizationId }, traceId)
      const at = stored && holdOf(stored.record)?.at
      if (at !== undefined) times.push(at)
    }
  }
  return { count, since: times.length === 0 ? undefined : Math.min(...times) }
}
