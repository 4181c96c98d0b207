/** Frees the space of large values that were deleted: a segment with little alive is copied forward and dropped. */
import type { Bytes, Kv, Write } from '../kv.ts'
import { kindOf, kinds, pointerOf, versionOf } from '../engine/codec.ts'
import type { Look } from '../engine/group.ts'
import type { LogEntry, ValueLog } from './value-log.ts'

/** A segment is rewritten when at most this share of its bytes is still alive. */
const maxAliveShare = 0.25

/** Returns how many segments were dropped; while `mayDrop` says no, none is. Segments that live are not walked to their end. */
export async function collectSegments(log: ValueLog, kv: Kv, look: Look, mayDrop = (): boolean => true): Promise<number> {
  let dropped = 0
  for (const segment of await log.sealed()) {
    if (!mayDrop()) break
    const alive = await aliveIn(log, segment, look)
    if (!alive) continue
    for (const entry of alive) await moveForward(log, kv, look, entry)
    if (!mayDrop()) break // asked again, as a snapshot may have begun meanwhile; the next collection drops it
    await log.drop(segment)
    dropped++
  }
  return dropped
}

/** The entries that live, or undefined when they are too many. */
async function aliveIn(log: ValueLog, segment: number, look: Look): Promise<LogEntry[] | undefined> {
  const most = (await log.size(segment)) * maxAliveShare
  const alive: LogEntry[] = []
  let aliveBytes = 0
  for await (const entry of log.entries(segment)) {
    if (!pointsTo(look(entry.key), entry)) continue
    alive.push(entry)
    aliveBytes += entry.pointer.length
    if (aliveBytes > most) return undefined
  }
  return alive
}

/** Writes the value again, unless the key has changed meanwhile. */
async function moveForward(log: ValueLog, kv: Kv, look: Look, entry: LogEntry): Promise<void> {
  const stored = look(entry.key)
  if (!stored || !pointsTo(stored, entry)) return
  const value = await log.read(entry.pointer)
  const move: Write = { checks: [{ key: entry.key, version: versionOf(stored) }], sets: [{ key: entry.key, value }], deletes: [], adds: [] }
  await kv.write(move)
}

function pointsTo(stored: Bytes | undefined, { pointer }: LogEntry): boolean {
  if (!stored || kindOf(stored) !== kinds.pointer) return false
  const { segment, offset } = pointerOf(stored)
  return segment === pointer.segment && offset === pointer.offset
}
