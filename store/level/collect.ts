/** Frees the space of large values that were deleted: a segment with little alive is copied forward and dropped. */
import { StoreDamaged, type Bytes, type Kv, type Write } from '../kv.ts'
import { kindOf, kinds, pointerOf, versionOf } from '../engine/codec.ts'
import type { Look } from '../engine/group.ts'
import type { LogEntry, ValueLog } from './value-log.ts'

/** A segment is rewritten when at most this share of its bytes is still alive. */
const maxAliveShare = 0.25

export interface Collected {
  readonly log: ValueLog
  readonly kv: Kv
  readonly look: Look
  /** All rows, a few at a time. */
  readonly rows: () => AsyncIterable<readonly (readonly [key: Bytes, stored: Bytes])[]>
  /** While it says no, no segment is dropped. */
  readonly mayDrop?: () => boolean
}

/** Returns how many segments were dropped. Segments that live are not walked to their end. */
export async function collectSegments(collected: Collected): Promise<number> {
  const { log, look, mayDrop = () => true } = collected
  const emptied = new Set<number>()
  for (const segment of await log.sealed()) {
    if (!mayDrop()) return 0
    const alive = await aliveIn(log, segment, look)
    if (alive && (await moveForward(collected, alive))) emptied.add(segment)
  }
  if (emptied.size > 0) await keepPointedTo(collected, emptied)
  let dropped = 0
  for (const segment of emptied) {
    if (!mayDrop()) break // asked again, as a snapshot may have begun meanwhile; the next collection drops it
    await log.drop(segment)
    dropped++
  }
  return dropped
}

/** Rows tell what lives. The lengths and keys in a segment have no checksum: a flipped bit hides the entry, or all behind it. */
async function keepPointedTo(collected: Collected, emptied: Set<number>): Promise<void> {
  for await (const rows of collected.rows())
    for (const [key, stored] of rows) {
      if (kindOf(stored) !== kinds.pointer) continue
      const pointer = pointerOf(stored)
      if (emptied.has(pointer.segment) && !(await moveForward(collected, [{ key, pointer }]))) emptied.delete(pointer.segment)
    }
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

/** Writes values again whose keys have not changed meanwhile. False when one is damaged: its segment is kept. */
async function moveForward({ log, kv, look }: Collected, entries: readonly LogEntry[]): Promise<boolean> {
  for (const entry of entries) {
    const { key, pointer } = entry
    const stored = look(key)
    if (!stored || !pointsTo(stored, entry)) continue
    try {
      const value = await log.read(pointer)
      const move: Write = { checks: [{ key, version: versionOf(stored) }], sets: [{ key, value }], deletes: [], adds: [] }
      await kv.write(move)
    } catch (error) {
      if (error instanceof StoreDamaged) return false
      throw error
    }
  }
  return true
}

function pointsTo(stored: Bytes | undefined, { pointer }: LogEntry): boolean {
  if (!stored || kindOf(stored) !== kinds.pointer) return false
  const { segment, offset } = pointerOf(stored)
  return segment === pointer.segment && offset === pointer.offset
}
