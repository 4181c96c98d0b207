/** Counts of waiting messages by destination and project. */
import type { Database } from '#store/database.ts'
import { isHeldPlace } from '#store/queue.ts'
import { walkEntries, type QueueCursor, type QueueWalk } from './queue-walk.ts'

export interface QueueCounts {
  readonly matched: number
  /** Held messages among them. */
  readonly held: number
  /** False if the queue has more entries than one count scans. */
  readonly complete: boolean
  readonly lanes: readonly PartCount[]
  /** First due time of the longest-waiting message that is not held; null if no message waits. In the future for scheduled sends. */
  readonly waitingSince: number | null
  /** Last scanned entry, if more follow. */
  readonly until: QueueCursor | null
}

interface PartCount {
  readonly destinationId: string
  readonly projectId: string
  readonly count: number
  readonly held: number
}

/** Maximum entries scanned by a count. */
const maxLooks = 100_000

export async function countQueue(database: Database, walk: QueueWalk, most = maxLooks): Promise<QueueCounts> {
  const lanes = new Map<string, PartCount>()
  let waitingSince = Infinity
  let [looks, reached, until]: [number, QueueCursor | null, QueueCursor | null] = [0, null, null]
  for await (const { found, looked, last } of walkEntries(database, walk)) {
    if (looks >= most) {
      until = reached
      break
    }
    for (const { destinationId, projectId, dueMs, since = dueMs } of found) {
      const key = `${destinationId} ${projectId}`
      const { count = 0, held = 0 } = lanes.get(key) ?? {}
      const isHeld = walk.isHeld === true || isHeldPlace(dueMs)
      if (!isHeld) waitingSince = Math.min(waitingSince, since)
      lanes.set(key, { destinationId, projectId, count: count + 1, held: held + (isHeld ? 1 : 0) })
    }
    looks += looked
    reached = placeOf(last)
  }
  const all = [...lanes.values()]
  const sum = (field: 'count' | 'held'): number => all.reduce((total, lane) => total + lane[field], 0)
  return {
    ...{ matched: sum('count'), held: sum('held'), complete: until === null, lanes: all, until },
    waitingSince: Number.isFinite(waitingSince) ? waitingSince : null,
  }
}

const placeOf = ({ destinationId, projectId, dueMs, traceId }: QueueCursor): QueueCursor => ({ destinationId, projectId, dueMs, traceId })
