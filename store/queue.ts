/** The delivery queue as rows ordered by destination, project and due time. Claims read the head of a range; nothing ever scans it. */
import { decode, encode, type Change } from './change.ts'
import type { Database } from './database.ts'
import type { Entry } from './kv.ts'
import { globalKey } from './record-kind.ts'
import { pack, unpack, within, type Element } from './tuple.ts'

/**
 * What a destination has to do for one project, in order of due time. The queue of a destination that several projects use
 * is as many parts, so that none of them stands behind the backlog of another.
 */
export interface QueuePart {
  readonly destinationId: string
  readonly projectId: string
}

/** One message waiting for its next delivery attempt to one destination. */
export interface QueueEntry extends QueuePart {
  /** Milliseconds since the epoch; not before then is the attempt made. */
  readonly dueMs: number
  readonly traceId: string
  readonly organizationId: string
  /** Delivery attempts made so far. */
  readonly attempts: number
}

/** A place in a part of the queue; entries before it are done. */
export interface QueuePosition {
  readonly dueMs: number
  readonly traceId: string
}

/** What of an entry tells which row it is. */
export type QueueRow = QueuePart & QueuePosition

const partKey = ({ destinationId, projectId }: QueuePart, ...rest: readonly Element[]): readonly Element[] =>
  globalKey('queue', destinationId, projectId, ...rest)
const rowKey = (row: QueueRow): readonly Element[] => partKey(row, row.dueMs, row.traceId)

export const enqueue = (change: Change, entry: QueueEntry): Change =>
  change.set(rowKey(entry), encode([entry.organizationId, entry.attempts])).add(queueLengthKey, 1)

export const dequeue = (change: Change, row: QueueRow): Change => change.delete(rowKey(row)).add(queueLengthKey, -1)

/** Like `dequeue`, for an entry that something else may have taken out. */
export async function dequeueIfThere(database: Database, change: Change, row: QueueRow): Promise<Change> {
  const stored = await database.kv.get(pack(rowKey(row)))
  return stored ? dequeue(change.check(rowKey(row), stored.version), row) : change
}

/** Counts all entries, so that metrics never scan. */
const queueLengthKey = globalKey('counter', 'queue.length')
export const queueLength = (database: Database): Promise<number> => database.kv.counter(pack(queueLengthKey))

/** Entries of one part in order of due time, from a position on (inclusive). */
export async function queueHead(
  database: Database,
  part: QueuePart,
  options: { readonly from?: QueuePosition | undefined; readonly untilMs?: number; readonly limit: number },
): Promise<QueueEntry[]> {
  const all = within(partKey(part))
  const start = options.from ? pack(partKey(part, options.from.dueMs, options.from.traceId)) : all.start
  const end = options.untilMs === undefined ? all.end : pack(partKey(part, options.untilMs + 1))
  const entries: QueueEntry[] = []
  for await (const row of database.kv.range({ start, end, limit: options.limit })) entries.push(toQueueEntry(row))
  return entries
}

/** Reads a row of the queue. */
export function toQueueEntry({ key, value }: Pick<Entry, 'key' | 'value'>): QueueEntry {
  const [, , destinationId, projectId, dueMs, traceId] = unpack(key)
  const [organizationId, attempts] = decode<[string, number]>(value)
  const part = { destinationId: String(destinationId), projectId: String(projectId) }
  return { ...part, dueMs: Number(dueMs), traceId: String(traceId), organizationId, attempts }
}

/** Whether anything is queued for a destination. */
export async function isQueuedFor(database: Database, destinationId: string): Promise<boolean> {
  for await (const _ of database.kv.range({ ...within(globalKey('queue', destinationId)), limit: 1 })) return true
  return false
}

/** Every part that has anything queued, by one seek each. */
export async function queuedParts(database: Database): Promise<QueuePart[]> {
  const found: QueuePart[] = []
  const { end } = within(globalKey('queue'))
  let { start } = within(globalKey('queue'))
  for (;;) {
    let next: QueuePart | undefined
    for await (const row of database.kv.range({ start, end, limit: 1 })) next = toQueueEntry(row)
    if (next === undefined) return found
    const { destinationId, projectId } = next
    found.push({ destinationId, projectId })
    start = within(partKey(next)).end
  }
}
