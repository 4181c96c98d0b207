/** Waiting messages of one project, in a bounded number of entries for each destination. */
import type { Database } from '#store/database.ts'
import { heldDueMs, queueHead } from '#store/queue.ts'
import { holdOf } from '../../trace/acts/queue-acts.ts'
import { traces } from '../../trace/trace.ts'

/** Waiting messages at one destination. */
export interface Waiting {
  readonly destinationId: string
  /** First due times of the messages that are due and not on hold. */
  readonly due: readonly number[]
  readonly held: number
  /** Time of the hold of the message that was due first; undefined without held messages. */
  readonly heldSince: number | undefined
}

/** Maximum number of entries that are read for each destination, on hold or not. */
export const maxEntries = 200

/** Messages that are counted for a paused destination, and reads for them: one for each project with messages on hold, and one more. */
export const countLimits = { entries: 1000, reads: 100 } as const

export async function readQueue(
  database: Database,
  organizationId: string,
  projectId: string,
  destinationIds: readonly string[],
  now: number,
): Promise<readonly Waiting[]> {
  const found: Waiting[] = []
  for (const destinationId of destinationIds) {
    const part = { destinationId, projectId }
    const waiting = await queueHead(database, part, { limit: maxEntries, untilMs: heldDueMs - 1 })
    const held = await queueHead(database, part, { limit: maxEntries, from: { dueMs: heldDueMs, traceId: '' } })
    if (waiting.length + held.length === 0) continue
    const due = waiting.map(({ since, dueMs }) => since ?? dueMs).filter((at) => at <= now)
    const [first] = held
    const trace = first && (await database.get(traces, { organizationId }, first.traceId))
    found.push({ destinationId, due, held: held.length, heldSince: trace && (holdOf(trace.record)?.at ?? trace.record.createdAt) })
  }
  return found
}
