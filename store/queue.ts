/** The delivery queue as rows ordered by destination, project and due time. Claims read the head of a range; nothing ever scans it. */
import { decode, encode, type Change } from './change.ts'
import type { Database } from './database.ts'
import type { Bytes, Entry } from './kv.ts'
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

/** A delivery attempt that was begun; that it has ended is said by its entry having gone, or standing elsewhere without it. */
export interface BegunAttempt {
  /** Attempts of a message count from 1. */
  readonly number: number
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** What is spoken to. */
  readonly provider?: string | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
}

/** One message waiting for its next delivery attempt to one destination. */
export interface QueueEntry extends QueuePart {
  /** Milliseconds since the epoch; not before then is the attempt made. */
  readonly dueMs: number
  readonly traceId: string
  readonly organizationId: string
  /** Delivery attempts made so far. */
  readonly attempts: number
  /** When its first attempt was due, in milliseconds since the epoch; absent until it was put off for the first time. */
  readonly since?: number
  /** The attempt under way, or that was when the process ended. */
  readonly begun?: BegunAttempt
  /** When the message was accepted, in milliseconds since the epoch; absent in rows of earlier releases. */
  readonly acceptedMs?: number
}

/** Due times from here on (9999-12-31T23:59:59Z) are places of held entries, which never become due. */
export const heldDueMs = 253_402_300_799_000
/** The place of a held entry: held entries keep the order of their first due times. */
export const heldPlace = (firstDueMs: number): number => heldDueMs + firstDueMs
export const isHeldPlace = (dueMs: number): boolean => dueMs >= heldDueMs

/** A place in a part of the queue; entries before it are done. */
export interface QueuePosition {
  readonly dueMs: number
  readonly traceId: string
}

/** What of an entry determines its rows. */
export type QueueRow = QueuePart & QueuePosition & Pick<QueueEntry, 'since'>

const partKey = ({ destinationId, projectId }: QueuePart, ...rest: readonly Element[]): readonly Element[] =>
  globalKey('queue', destinationId, projectId, ...rest)
const rowKey = (row: QueueRow): readonly Element[] => partKey(row, row.dueMs, row.traceId)

/** Entries that were put off, by their age; the value says where the entry stands. */
export const sinceFamily = 'queue.since'
const sinceKey = (since: number, traceId: string): readonly Element[] => globalKey(sinceFamily, since, traceId)

export function enqueue(change: Change, entry: QueueEntry): Change {
  const { since, traceId, begun } = entry
  change.set(rowKey(entry), rowValue(entry, begun))
  if (since !== undefined) change.set(sinceKey(since, traceId), encode([entry.destinationId, entry.projectId, entry.dueMs]))
  if (isHeldPlace(entry.dueMs)) change.add(heldLengthKey, 1)
  return change.add(queueLengthKey, 1)
}

/** Notes in the row of an entry which attempt has begun, or that none has. The caller checks that the entry is still there. */
export const noteBegun = (change: Change, entry: QueueEntry, begun: BegunAttempt | undefined): Change =>
  change.set(rowKey(entry), rowValue(entry, begun))

function rowValue({ organizationId, attempts, since, acceptedMs }: QueueEntry, begun?: BegunAttempt): Bytes {
  const attempt = begun && begunFields.map((field) => begun[field] ?? null)
  if (acceptedMs !== undefined) return encode([organizationId, attempts, since ?? null, attempt ?? null, acceptedMs])
  if (attempt) return encode([organizationId, attempts, since ?? null, attempt])
  return encode(since === undefined ? [organizationId, attempts] : [organizationId, attempts, since])
}

const begunFields = ['number', 'startedAt', 'provider', 'host', 'port'] as const

export function dequeue(change: Change, row: QueueRow): Change {
  if (row.since !== undefined) change.delete(sinceKey(row.since, row.traceId))
  if (isHeldPlace(row.dueMs)) change.add(heldLengthKey, -1)
  return change.delete(rowKey(row)).add(queueLengthKey, -1)
}

/** Puts an entry off, to another time or part; its age goes on from when its first attempt was due. No attempt is under way then. */
export const putOff = (change: Change, entry: QueueEntry, next: Omit<QueueEntry, 'since'>): QueueEntry => {
  const { begun: _, ...rest } = next
  const later = { ...rest, since: entry.since ?? entry.dueMs }
  enqueue(dequeue(change, entry), later)
  return later
}

/** When the first attempt was due of the message that was put off and waits longest; undefined when none was put off. One seek. */
export async function oldestSince(database: Database): Promise<number | undefined> {
  for await (const { key } of database.kv.range({ ...within(globalKey(sinceFamily)), limit: 1 })) return Number(unpack(key)[2])
  return undefined
}

/** The row of ages that an entry must have; undefined when it was never put off. */
export const rowOfAge = ({ since, traceId }: QueueEntry): Uint8Array | undefined =>
  since === undefined ? undefined : pack(sinceKey(since, traceId))

/** The queue row that a row of ages belongs to. */
export function rowOfSince({ key, value }: Pick<Entry, 'key' | 'value'>): Uint8Array {
  const [destinationId, projectId, dueMs] = decode<[string, string, number]>(value)
  return pack(rowKey({ destinationId, projectId, dueMs, traceId: String(unpack(key)[3]) }))
}

/** Like `dequeue`, for an entry that something else may have taken out. */
export async function dequeueIfThere(database: Database, change: Change, row: QueueRow): Promise<Change> {
  const stored = await database.kv.get(pack(rowKey(row)))
  return stored ? dequeue(change.check(rowKey(row), stored.version), toQueueEntry(stored)) : change
}

/** Takes an entry out that waits. False when it does not stand in its place, or its attempt has begun: then nothing changes. */
export async function dequeueIfWaiting(database: Database, change: Change, row: QueueRow): Promise<boolean> {
  const stored = await database.kv.get(pack(rowKey(row)))
  const entry = stored && toQueueEntry(stored)
  if (!entry || entry.begun) return false
  dequeue(change.check(rowKey(row), stored.version), entry)
  return true
}

/** Counts all entries, so that metrics never scan. */
const queueLengthKey = globalKey('counter', 'queue.length')
/** Of these, those that are held. */
const heldLengthKey = globalKey('counter', 'queue.held')
export const heldLength = (database: Database): Promise<number> => database.kv.counter(pack(heldLengthKey))
export const queueLength = (database: Database): Promise<number> => database.kv.counter(pack(queueLengthKey))

/** Entries of one part in order of due time, from a position on (inclusive). */
export async function queueHead(
  database: Database,
  part: QueuePart,
  options: { readonly from?: QueuePosition | undefined; readonly untilMs?: number; readonly limit: number; readonly whole?: boolean },
): Promise<QueueEntry[]> {
  const all = within(partKey(part))
  const start = options.from ? pack(partKey(part, options.from.dueMs, options.from.traceId)) : all.start
  const end = options.untilMs === undefined ? all.end : pack(partKey(part, options.untilMs + 1))
  const entries: QueueEntry[] = []
  for await (const row of database.kv.range({ start, end, limit: options.limit, whole: options.whole ?? false }))
    entries.push(toQueueEntry(row))
  return entries
}

/** Reads a row of the queue. */
export function toQueueEntry({ key, value }: Pick<Entry, 'key' | 'value'>): QueueEntry {
  const [, , destinationId, projectId, dueMs, traceId] = unpack(key)
  const [organizationId, attempts, since, begun, acceptedMs] =
    decode<[string, number, (number | null)?, (readonly unknown[] | null)?, number?]>(value)
  return {
    ...{ destinationId: String(destinationId), projectId: String(projectId), dueMs: Number(dueMs), traceId: String(traceId) },
    ...{ organizationId, attempts },
    ...(typeof since === 'number' && { since }),
    ...(begun && { begun: toBegun(begun) }),
    ...(acceptedMs !== undefined && { acceptedMs }),
  }
}

const toBegun = (values: readonly unknown[]): BegunAttempt =>
  Object.fromEntries(begunFields.flatMap((field, i) => (values[i] === null ? [] : [[field, values[i]]]))) as unknown as BegunAttempt

/** An entry that goes to a place where it does not wait for an attempt, or back from there. */
export const moveEntry = (change: Change, entry: QueueEntry, next: QueueEntry): Change => enqueue(dequeue(change, entry), next)

/** The entry as it stands in its place now; undefined when it does not. */
export async function queuedAt(database: Database, row: QueueRow): Promise<QueueEntry | undefined> {
  const stored = await database.kv.get(pack(rowKey(row)))
  return stored && toQueueEntry(stored)
}

/** The entry in its place with the version of its row, so that a write can depend on it. */
export async function rowAt(
  database: Database,
  row: QueueRow,
): Promise<{ readonly entry: QueueEntry; readonly key: readonly Element[]; readonly version: bigint } | undefined> {
  const stored = await database.kv.get(pack(rowKey(row)))
  return stored && { entry: toQueueEntry(stored), key: rowKey(row), version: stored.version }
}

/** Whether anything is queued for a destination. */
export async function isQueuedFor(database: Database, destinationId: string): Promise<boolean> {
  for await (const _ of database.kv.range({ ...within(globalKey('queue', destinationId)), limit: 1, whole: true })) return true
  return false
}

/** Every part that has anything queued, of one destination or of all, by one seek each. */
export async function queuedParts(database: Database, destinationId?: string, whole = false): Promise<QueuePart[]> {
  const found: QueuePart[] = []
  const all = destinationId === undefined ? globalKey('queue') : globalKey('queue', destinationId)
  const { end } = within(all)
  let { start } = within(all)
  for (;;) {
    let next: QueuePart | undefined
    for await (const row of database.kv.range({ start, end, limit: 1, whole })) next = toQueueEntry(row)
    if (next === undefined) return found
    const { destinationId, projectId } = next
    found.push({ destinationId, projectId })
    start = within(partKey(next)).end
  }
}
