/** The delivery queue: rows ordered by destination, project and due time. Claims read the start of a range; nothing scans the queue. */
import { decode, encode, type Change } from './change.ts'
import type { Database } from './database.ts'
import type { Bytes, Entry } from './kv.ts'
import { globalKey } from './record-kind.ts'
import { pack, unpack, within, type Element } from './tuple.ts'

/**
 * Entries of a destination for one project, in order of due time. Each project of a destination has its own part, so that the backlog of
 * one project does not delay the others.
 */
export interface QueuePart {
  readonly destinationId: string
  readonly projectId: string
}

/** A started delivery attempt. It has ended if its entry is deleted, or is stored elsewhere without it. */
export interface BegunAttempt {
  /** Attempts of a message count from 1. */
  readonly number: number
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Provider that receives the request. */
  readonly provider?: string | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
}

/** A message that waits for its next delivery attempt at one destination. */
export interface QueueEntry extends QueuePart {
  /** Time of the next attempt, in milliseconds since the epoch. */
  readonly dueMs: number
  readonly traceId: string
  readonly organizationId: string
  /** Number of delivery attempts so far. */
  readonly attempts: number
  /** Due time of the first attempt, in milliseconds since the epoch; absent until the entry is deferred. */
  readonly since?: number
  /** The attempt in progress, or in progress when the process ended. */
  readonly begun?: BegunAttempt
  /** Time of acceptance, in milliseconds since the epoch; absent in rows of earlier releases. */
  readonly acceptedMs?: number
}

/** Due times from this value on (9999-12-31T23:59:59Z) belong to held entries, which never become due. */
export const heldDueMs = 253_402_300_799_000
/** Returns the place of a held entry. Held entries keep the order of their first due times. */
export const heldPlace = (firstDueMs: number): number => heldDueMs + firstDueMs
export const isHeldPlace = (dueMs: number): boolean => dueMs >= heldDueMs

/** Position in a part of the queue. All earlier entries are done. */
export interface QueuePosition {
  readonly dueMs: number
  readonly traceId: string
}

/** Fields of an entry that determine its rows. */
export type QueueRow = QueuePart & QueuePosition & Pick<QueueEntry, 'since'>

const partKey = ({ destinationId, projectId }: QueuePart, ...rest: readonly Element[]): readonly Element[] =>
  globalKey('queue', destinationId, projectId, ...rest)
const rowKey = (row: QueueRow): readonly Element[] => partKey(row, row.dueMs, row.traceId)

/** Index of deferred entries by age. The value contains the position of the entry. */
export const sinceFamily = 'queue.since'
const sinceKey = (since: number, traceId: string): readonly Element[] => globalKey(sinceFamily, since, traceId)

export function enqueue(change: Change, entry: QueueEntry): Change {
  const { since, traceId, begun } = entry
  change.set(rowKey(entry), rowValue(entry, begun))
  if (since !== undefined) change.set(sinceKey(since, traceId), encode([entry.destinationId, entry.projectId, entry.dueMs]))
  if (isHeldPlace(entry.dueMs)) change.add(heldLengthKey, 1)
  return change.add(queueLengthKey, 1)
}

/** Stores the attempt in progress, or its end, in the row of an entry. The caller checks that the entry exists. */
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

/** Moves an entry to another time or part without an attempt in progress. Its age still counts from the due time of the first attempt. */
export const putOff = (change: Change, entry: QueueEntry, next: Omit<QueueEntry, 'since'>): QueueEntry => {
  const { begun: _, ...rest } = next
  const later = { ...rest, since: entry.since ?? entry.dueMs }
  enqueue(dequeue(change, entry), later)
  return later
}

/** Returns the due time of the first attempt of the oldest deferred message; undefined if no message is deferred. One seek. */
export async function oldestSince(database: Database): Promise<number | undefined> {
  for await (const { key } of database.kv.range({ ...within(globalKey(sinceFamily)), limit: 1 })) return Number(unpack(key)[2])
  return undefined
}

/** Returns the age row of an entry; undefined if it was never deferred. */
export const rowOfAge = ({ since, traceId }: QueueEntry): Uint8Array | undefined =>
  since === undefined ? undefined : pack(sinceKey(since, traceId))

/** Returns the queue row of an age row. */
export function rowOfSince({ key, value }: Pick<Entry, 'key' | 'value'>): Uint8Array {
  const [destinationId, projectId, dueMs] = decode<[string, string, number]>(value)
  return pack(rowKey({ destinationId, projectId, dueMs, traceId: String(unpack(key)[3]) }))
}

/** Like `dequeue`, for an entry that may be gone. */
export async function dequeueIfThere(database: Database, change: Change, row: QueueRow): Promise<Change> {
  const stored = await database.kv.get(pack(rowKey(row)))
  return stored ? dequeue(change.check(rowKey(row), stored.version), toQueueEntry(stored)) : change
}

/** Removes a waiting entry. Returns false without a change if the entry has moved or its attempt has started. */
export async function dequeueIfWaiting(database: Database, change: Change, row: QueueRow): Promise<boolean> {
  const stored = await database.kv.get(pack(rowKey(row)))
  const entry = stored && toQueueEntry(stored)
  if (!entry || entry.begun) return false
  dequeue(change.check(rowKey(row), stored.version), entry)
  return true
}

/** Number of all entries, so that metrics need no scan. */
const queueLengthKey = globalKey('counter', 'queue.length')
/** Number of held entries. */
const heldLengthKey = globalKey('counter', 'queue.held')
export const heldLength = (database: Database): Promise<number> => database.kv.counter(pack(heldLengthKey))
export const queueLength = (database: Database): Promise<number> => database.kv.counter(pack(queueLengthKey))

/** Returns entries of one part in order of due time, from a position (inclusive). */
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

/** Decodes a queue row. */
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

/** Moves an entry to or from a place without attempts. */
export const moveEntry = (change: Change, entry: QueueEntry, next: QueueEntry): Change => enqueue(dequeue(change, entry), next)

/** Returns the current entry at its place; undefined if it has moved. */
export async function queuedAt(database: Database, row: QueueRow): Promise<QueueEntry | undefined> {
  const stored = await database.kv.get(pack(rowKey(row)))
  return stored && toQueueEntry(stored)
}

/** Returns the entry at its place with the version of its row, so that a write can depend on it. */
export async function rowAt(
  database: Database,
  row: QueueRow,
): Promise<{ readonly entry: QueueEntry; readonly key: readonly Element[]; readonly version: bigint } | undefined> {
  const stored = await database.kv.get(pack(rowKey(row)))
  return stored && { entry: toQueueEntry(stored), key: rowKey(row), version: stored.version }
}

/** Returns whether a destination has queued entries. */
export async function isQueuedFor(database: Database, destinationId: string): Promise<boolean> {
  for await (const _ of database.kv.range({ ...within(globalKey('queue', destinationId)), limit: 1, whole: true })) return true
  return false
}

/** Limits of `countWaiting`. */
export interface CountLimits {
  readonly entries: number
  readonly reads: number
}

/**
 * Counts entries of a destination in all its parts, without those on hold, up to the limits. A part with held entries costs one more read.
 */
export async function countWaiting(database: Database, destinationId: string, { entries, reads }: CountLimits): Promise<number> {
  let { start } = within(globalKey('queue', destinationId))
  const { end } = within(globalKey('queue', destinationId))
  let count = 0
  for (let read = 0; read < reads; read++) {
    let held: QueueEntry | undefined
    for await (const row of database.kv.range({ start, end, limit: entries - count + 1 })) {
      const entry = toQueueEntry(row)
      if (entry.dueMs >= heldDueMs) held = entry
      if (held || count === entries) break
      count++
    }
    if (!held || count === entries) return count
    start = within(partKey(held)).end // held entries are the last ones of their part
  }
  return count
}

/** Returns all parts with entries, of one destination or all, with one seek for each part. */
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
