/** Queue of one destination for one project: the entries in memory, and the position of the unread entries in the store. */
import { lengthOf } from '#store/kv.ts'
import { isHeldPlace, type QueueEntry, type QueuePart, type QueuePosition } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Trace } from '../../trace/trace.ts'
import type { DestinationLoad } from '../health/destination-load.ts'

/** An entry in memory, with its content if it was just accepted. */
export interface Ready {
  readonly entry: QueueEntry
  readonly content?: readonly Uint8Array[] | undefined
  /** The trace written with the entry, which avoids reading it. */
  readonly trace?: Stored<Trace> | undefined
  /** Accepted by this process, so no earlier attempt can exist. */
  readonly fresh: boolean
}

/** Approximate memory of a trace with few recipients. */
const traceBytes = 2048

/** Returns the memory of an entry: its content, with its trace if present. */
export const weightOf = (content: Ready['content']): number => (content ? lengthOf(content) + traceBytes : 0)

export class DestinationQueue implements QueuePart {
  /** The destination, possibly shared with other projects. */
  readonly load: DestinationLoad
  readonly projectId: string
  /** In order of due time. */
  readonly ready: Ready[] = []
  /** Traces that are ready or in flight; their rows are still in the store. */
  readonly held = new Set<string>()
  /** Attempts in flight. */
  active = 0
  /** Called when no attempt is in flight. */
  readonly onEnded: (() => void)[] = []
  refilling = false
  /** Another daemon has taken over this part of the queue. */
  isReleased = false
  /** First position in the store that may have entries not yet in memory; undefined if no due entries remain. */
  unread: QueuePosition | undefined
  /** Due time of the earliest known later entry. */
  nextDueMs = Infinity
  /** Rows that finished during a refill, which may have read them earlier. */
  readonly #doneMeanwhile = new Set<string>()

  readonly #maxReady: () => number

  /** `maxReady` returns the maximum number of entries in memory. The rest stays in the store until there is room. */
  constructor(load: DestinationLoad, projectId: string, maxReady: () => number) {
    this.load = load
    this.projectId = projectId
    this.#maxReady = maxReady
  }

  /** Earliest due time of the waiting entries; Infinity without a known due entry. */
  get earliestDueMs(): number {
    // a queue that has read nothing yet starts at 0, which is not a due time
    return Math.min(this.ready[0]?.entry.dueMs ?? Infinity, this.unread?.dueMs || Infinity)
  }

  get destinationId(): string {
    return this.load.destinationId
  }

  /** Adds an entry that was just written. Returns true if it keeps the content in memory. */
  offer(ready: Ready, nowMs: number): boolean {
    const { entry } = ready
    if (this.held.has(entry.traceId)) return false // a refill has read it already
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

  /** Inserts an entry by due time, because a released entry can be older than the entries in memory. */
  #add(ready: Ready): void {
    const before = this.ready.findLastIndex(({ entry }) => entry.dueMs <= ready.entry.dueMs)
    this.ready.splice(before + 1, 0, ready)
    this.held.add(ready.entry.traceId)
  }

  /** Records a later due time. An entry at a held position never becomes due. */
  #willBeDue(dueMs: number): void {
    if (!isHeldPlace(dueMs)) this.nextDueMs = Math.min(this.nextDueMs, dueMs)
  }

  /** Records an entry that another daemon has queued. */
  queuedElsewhere(dueMs: number, nowMs: number): void {
    if (dueMs > nowMs) this.#willBeDue(dueMs)
    else this.readFrom({ dueMs, traceId: '' })
  }

  /** Releases all waiting entries to another daemon; they stay in the store. Returns the ready entries. */
  release(): readonly Ready[] {
    this.isReleased = true
    for (const { entry } of this.ready) this.held.delete(entry.traceId)
    return this.ready.splice(0)
  }

  /** Removes an entry whose row was deleted or moved. */
  finish(entry: QueueEntry): void {
    this.held.delete(entry.traceId)
    if (this.refilling) this.#doneMeanwhile.add(rowOf(entry))
  }

  /** Schedules a new read of an entry whose attempt failed because of a defect. */
  tryAgain(entry: QueueEntry): this {
    this.readFrom(entry)
    this.finish(entry)
    return this
  }

  /** Schedules a read of the entries from this position. */
  readFrom(position: QueuePosition): void {
    const { unread } = this
    if (!unread || position.dueMs < unread.dueMs || (position.dueMs === unread.dueMs && position.traceId < unread.traceId)) {
      this.unread = { dueMs: position.dueMs, traceId: position.traceId }
    }
  }

  /** Begins a refill and returns its start position. */
  beginRefill(): QueuePosition | undefined {
    const from = this.unread
    this.unread = undefined
    this.refilling = true
    this.#doneMeanwhile.clear()
    return from
  }

  /** Adds the entries of a refill, at most `limit`. A concurrent `offer` may have set `unread` again. */
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

  /** True if no entry is in memory or known to follow. */
  get idle(): boolean {
    return this.held.size === 0 && this.unread === undefined && this.nextDueMs === Infinity && !this.refilling
  }

  /** Number of entries to read in a refill. Includes the held entries, which the store returns again. */
  get refillLimit(): number {
    return this.#maxReady() + this.held.size
  }
}

const rowOf = ({ dueMs, traceId }: QueueEntry): string => `${dueMs} ${traceId}`
