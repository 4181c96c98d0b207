/** The delivery queue as rows ordered by destination and due time. Claims read the head of a range; nothing ever scans it. */
import { decode, encode, type Change } from './change.ts'
import type { Database } from './database.ts'
import type { Entry } from './kv.ts'
import { globalKey } from './record-kind.ts'
import { pack, unpack, within, type Element } from './tuple.ts'

/** One message waiting for its next delivery attempt to one destination. */
export interface QueueEntry {
  readonly destinationId: string
  /** Milliseconds since the epoch; not before then is the attempt made. */
  readonly dueMs: number
  readonly traceId: string
  readonly organizationId: string
  /** Delivery attempts made so far. */
  readonly attempts: number
}

/** A place in a destination's queue; entries before it are done. */
export interface QueuePosition {
  readonly dueMs: number
  readonly traceId: string
}

const entryKey = (entry: QueueEntry): readonly Element[] => globalKey('queue', entry.destinationId, entry.dueMs, entry.traceId)

export const enqueue = (change: Change, entry: QueueEntry): Change =>
  change.set(entryKey(entry), encode([entry.organizationId, entry.attempts])).add(queueLengthKey, 1)

export const dequeue = (change: Change, entry: QueueEntry): Change => change.delete(entryKey(entry)).add(queueLengthKey, -1)

/** Like `dequeue`, for an entry that something else may have taken out. */
export async function dequeueIfThere(database: Database, change: Change, entry: QueueEntry): Promise<Change> {
  const row = await database.kv.get(pack(entryKey(entry)))
  return row ? dequeue(change.check(entryKey(entry), row.version), entry) : change
}

/** Counts all entries, so that metrics never scan. */
const queueLengthKey = globalKey('counter', 'queue.length')
export const queueLength = (database: Database): Promise<number> => database.kv.counter(pack(queueLengthKey))

/** Entries of one destination in order of due time, from a position on (inclusive). */
export async function queueHead(
  database: Database,
  destinationId: string,
  options: { readonly from?: QueuePosition | undefined; readonly untilMs?: number; readonly limit: number },
): Promise<QueueEntry[]> {
  const all = within(globalKey('queue', destinationId))
  const start = options.from ? pack(globalKey('queue', destinationId, options.from.dueMs, options.from.traceId)) : all.start
  const end = options.untilMs === undefined ? all.end : pack(globalKey('queue', destinationId, options.untilMs + 1))
  const entries: QueueEntry[] = []
  for await (const row of database.kv.range({ start, end, limit: options.limit })) entries.push(toQueueEntry(row))
  return entries
}

/** Reads a row of the queue. */
export function toQueueEntry({ key, value }: Pick<Entry, 'key' | 'value'>): QueueEntry {
  const [, , destinationId, dueMs, traceId] = unpack(key)
  const [organizationId, attempts] = decode<[string, number]>(value)
  return { destinationId: String(destinationId), dueMs: Number(dueMs), traceId: String(traceId), organizationId, attempts }
}

/** Every destination that has anything queued, by one seek each. */
export async function queuedDestinations(database: Database): Promise<string[]> {
  const found: string[] = []
  const { end } = within(globalKey('queue'))
  let { start } = within(globalKey('queue'))
  for (;;) {
    let next: string | undefined
    for await (const { key } of database.kv.range({ start, end, limit: 1 })) next = String(unpack(key)[2])
    if (next === undefined) return found
    found.push(next)
    start = within(globalKey('queue', next)).end
  }
}
