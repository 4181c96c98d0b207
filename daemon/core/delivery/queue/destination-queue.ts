/** What one destination has to do for one project: what of it is in memory, and from where on it must be read from the store. */
import { lengthOf } from '#store/kv.ts'
import { isHeldPlace, type QueueEntry, type QueuePart, type QueuePosition } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Trace } from '../../trace/trace.ts'
import type { DestinationLoad } from '../health/destination-load.ts'

/** An entry in memory, with its content when that was accepted just now. */
export interface Ready {
  readonly entry: QueueEntry
  readonly content?: readonly Uint8Array[] | undefined
  /** Its trace as it was written with it, which saves reading it. */
  readonly trace?: Stored<Trace> | undefined
  /** Accepted by this process: no attempt can have been begun before. */
  readonly fresh: boolean
}

/** What a trace of few recipients weighs in memory. */
const traceBytes = 2048

/** What a message in memory weighs: its content, and its trace if that is carried. */
export const weightOf = (content: Ready['content']): number => (content ? lengthOf(content) + traceBytes : 0)

export class DestinationQueue implements QueuePart {
  /** The destination, which other projects may use too. */
  readonly load: DestinationLoad
  readonly projectId: string
  /** In order of due time. */
  readonly ready: Ready[] = []
  /** Traces that are ready or under way; the store still has their rows. */
  readonly held = new Set<string>()
  /** Attempts under way. */
  active = 0
  /** Called when none is under way. */
  readonly onEnded: (() => void)[] = []
  refilling = false
  /** Its part of the queue went to another daemon. */
  isReleased = false
  /** From here on entries may stand in the store that are not held; undefined when there are none that are due. */
  unread: QueuePosition | undefined
  /** The earliest entry known to be due later. */
  nextDueMs = Infinity
  /** Rows that were done while a refill was under way, which may have read them before. */
  readonly #doneMeanwhile = new Set<string>()

  readonly #maxReady: () => number

  /** `maxReady`: entries that may be in memory now; the rest stays in the store until there is room. */
  constructor(load: DestinationLoad, projectId: string, maxReady: () => number) {
    this.load = load
    this.projectId = projectId
    this.#maxReady = maxReady
  }

  /** Of what waits to be attempted; Infinity when nothing is known to be due. */
  get earliestDueMs(): number {
    // a lane that has read nothing yet starts from 0, which is no due time
    return Math.min(this.ready[0]?.entry.dueMs ?? Infinity, this.unread?.dueMs || Infinity)
  }

  get destinationId(): string {
    return this.load.destinationId
  }

  /** Takes an entry that was just written. Returns whether its content is kept. */
  offer(ready: Ready, nowMs: number): boolean {
    const { entry } = ready
    if (this.held.has(entry.traceId)) return false // a refill was quicker
    if (entry.dueMs > nowMs) {
      this.#willBeDue(entry.dueMs)
      return false
    }
    if (this.unread !== undefined || this.ready.length >= this.#maxReady()) {
      this.readFrom(entry)
      return false
    }
    this.#add(ready)
    return true
  }

  /** Adds an entry after those that were due earlier or at the same time: a released entry can be older than those in memory. */
  #add(ready: Ready): void {
    const before = this.ready.findLastIndex(({ entry }) => entry.dueMs <= ready.entry.dueMs)
    this.ready.splice(before + 1, 0, ready)
    this.held.add(ready.entry.traceId)
  }

  /** What is held never becomes due where it stands. */
  #willBeDue(dueMs: number): void {
    if (!isHeldPlace(dueMs)) this.nextDueMs = Math.min(this.nextDueMs, dueMs)
  }

  /** Another daemon queued something that is due then. */
  queuedElsewhere(dueMs: number, nowMs: number): void {
    if (dueMs > nowMs) this.#willBeDue(dueMs)
    else this.readFrom({ dueMs, traceId: '' })
  }

  /** Lets go of all that waits, which stands in the store: another daemon is to have it. Returns what was ready. */
  release(): readonly Ready[] {
    this.isReleased = true
    for (const { entry } of this.ready) this.held.delete(entry.traceId)
    return this.ready.splice(0)
  }

  /** The row of the entry is gone from the store, or stands at another place now. */
  finish(entry: QueueEntry): void {
    this.held.delete(entry.traceId)
    if (this.refilling) this.#doneMeanwhile.add(rowOf(entry))
  }

  /** The attempt of the entry ended in a defect; the entry is read again. */
  tryAgain(entry: QueueEntry): this {
    this.readFrom(entry)
    this.finish(entry)
    return this
  }

  /** Entries from this position on have to be read. */
  readFrom(position: QueuePosition): void {
    const { unread } = this
    if (!unread || position.dueMs < unread.dueMs || (position.dueMs === unread.dueMs && position.traceId < unread.traceId)) {
      this.unread = { dueMs: position.dueMs, traceId: position.traceId }
    }
  }

  /** The store is being read from `unread` on. */
  beginRefill(): QueuePosition | undefined {
    const from = this.unread
    this.unread = undefined
    this.refilling = true
    this.#doneMeanwhile.clear()
    return from
  }

  /** What was read, at most `limit` entries. Entries offered meanwhile may have set `unread` again. */
  refill(entries: readonly QueueEntry[], limit: number, nowMs: number): void {
    this.refilling = false
    if (this.isReleased) return
    for (const entry of entries) {
      if (this.held.has(entry.traceId) || this.#doneMeanwhile.has(rowOf(entry))) continue
      if (entry.dueMs > nowMs) return this.#willBeDue(entry.dueMs)
      this.#add({ entry, content: undefined, fresh: false })
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
    return this.#maxReady() + this.held.size
  }
}

const rowOf = ({ dueMs, traceId }: QueueEntry): string => `${dueMs} ${traceId}`
