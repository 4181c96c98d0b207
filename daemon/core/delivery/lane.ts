/** One destination's part of the queue: what of it is in memory, and from where on it must be read from the store. */
import type { QueueEntry, QueuePosition } from '#store/queue.ts'

/** An entry in memory, with its content when that was accepted just now. */
export interface Ready {
  readonly entry: QueueEntry
  readonly content: Uint8Array | undefined
  /** Accepted by this process: no attempt can have been begun before. */
  readonly fresh: boolean
}

/** What the queue must know of a destination. */
export interface LaneLimits {
  readonly maxConnections: number
  readonly maxRatePerMin: number | null
}

/** Entries kept in memory for a destination; the rest stays in the store until there is room. */
const readyMax = 256

export class Lane {
  readonly destinationId: string
  readonly ready: Ready[] = []
  /** Traces that are ready or under way; the store still has their rows. */
  readonly held = new Set<string>()
  active = 0
  refilling = false
  /** From here on entries may stand in the store that are not held; undefined when there are none that are due. */
  unread: QueuePosition | undefined
  /** The earliest entry known to be due later. */
  nextDueMs = Infinity
  /** As they were when last looked at; undefined before the first attempt. */
  limits: LaneLimits | undefined
  #notBeforeMs = 0

  constructor(destinationId: string) {
    this.destinationId = destinationId
  }

  get hasRoom(): boolean {
    return this.limits === undefined || this.active < this.limits.maxConnections
  }

  /** Milliseconds until the rate limit allows the next attempt; 0 takes the allowance. */
  waitMs(nowMs: number): number {
    const rate = this.limits?.maxRatePerMin ?? null
    if (rate === null) return 0
    if (this.#notBeforeMs > nowMs) return this.#notBeforeMs - nowMs
    this.#notBeforeMs = nowMs + 60_000 / rate
    return 0
  }

  /** Takes an entry that was just written. Returns whether its content is kept. */
  offer(ready: Ready, nowMs: number): boolean {
    const { entry } = ready
    if (entry.dueMs > nowMs) {
      this.nextDueMs = Math.min(this.nextDueMs, entry.dueMs)
      return false
    }
    if (this.unread !== undefined || this.ready.length >= readyMax) {
      this.readFrom(entry)
      return false
    }
    this.ready.push(ready)
    this.held.add(entry.traceId)
    return true
  }

  /** Entries from this position on have to be read. */
  readFrom(position: QueuePosition): void {
    const { unread } = this
    if (!unread || position.dueMs < unread.dueMs || (position.dueMs === unread.dueMs && position.traceId < unread.traceId)) {
      this.unread = { dueMs: position.dueMs, traceId: position.traceId }
    }
  }

  /** What was read from `from` on, at most `limit` entries. Entries offered meanwhile may have moved `unread` forward again. */
  refill(entries: readonly QueueEntry[], limit: number, nowMs: number): void {
    for (const entry of entries) {
      if (entry.dueMs > nowMs) {
        this.nextDueMs = Math.min(this.nextDueMs, entry.dueMs)
        return
      }
      if (this.held.has(entry.traceId)) continue
      this.ready.push({ entry, content: undefined, fresh: false })
      this.held.add(entry.traceId)
    }
    const last = entries.at(-1)
    if (last && entries.length === limit) this.readFrom({ dueMs: last.dueMs, traceId: `${last.traceId}\0` })
  }

  /** Nothing of it is in memory, and nothing is known to come. */
  get idle(): boolean {
    return this.held.size === 0 && this.unread === undefined && this.nextDueMs === Infinity && !this.refilling
  }

  /** How many entries to read at a time: those that are held come again and must not crowd out new ones. */
  get refillLimit(): number {
    return readyMax + this.held.size
  }
}
