/** Frees the space of deleted large values: copies the live entries of a mostly dead segment and drops the segment. */
import { StoreDamaged, type Bytes, type Kv, type Write } from '../kv.ts'
import { kindOf, kinds, pointerOf, versionOf } from '../engine/codec.ts'
import type { Look } from '../engine/group.ts'
import type { LogEntry, ValueLog } from './value-log.ts'

/** A segment is rewritten if at most this share of its bytes is live. */
const maxAliveShare = 0.25

export interface Collected {
  readonly log: ValueLog
  readonly kv: Kv
  readonly look: Look
  /** Returns all rows in small batches. */
  readonly rows: () => AsyncIterable<readonly (readonly [key: Bytes, stored: Bytes])[]>
  /** Segments are dropped only while this returns true. */
  readonly mayDrop?: () => boolean
}

/** Returns the number of dropped segments. Stops reading a segment as soon as it proves to be live. */
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
    if (!mayDrop()) break // checked again, because a snapshot may have started; the next collection drops the segment
    await log.drop(segment)
    dropped++
  }
  return dropped
}

/** Trusts rows, not segments: lengths and keys in a segment have no checksum. A flipped bit hides an entry, or all entries after it. */
async function keepPointedTo(collected: Collected, emptied: Set<number>): Promise<void> {
  for await (const rows of collected.rows())
    for (const [key, stored] of rows) {
      if (kindOf(stored) !== kinds.pointer) continue
      const pointer = pointerOf(stored)
      if (emptied.has(pointer.segment) && !(await moveForward(collected, [{ key, pointer }]))) emptied.delete(pointer.segment)
    }
}

/** Returns the live entries; undefined if there are too many. */
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

/** Writes the values again, unless their keys have changed. Returns false if a value is damaged: its segment is kept. */
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
