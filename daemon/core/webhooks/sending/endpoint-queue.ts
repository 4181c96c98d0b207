/** The in-memory queue of one endpoint: ready deliveries, concurrency limit and failure count. */
import type { DueRow } from '../delivery.ts'

/** Maximum concurrent attempts of a healthy endpoint; a new queue starts with `widthAtFirst`. */
const maxWidth = 10
const widthAtFirst = 2
/**
 * An endpoint with this many consecutive failures gets one attempt at a time.
 * After each failure it pauses for `restTimes` times the duration of the attempt.
 */
const maxFailures = 5
const restTimes = 3

export class EndpointQueue {
  readonly endpointId: string
  organizationId = ''
  /** Due deliveries, in order. */
  readonly ready: DueRow[] = []
  /** Ids of deliveries with an attempt in progress. */
  readonly inFlight = new Set<string>()
  /** The store may have more due rows. */
  hasUnread = true
  isReading = false
  /** Due time of the next later delivery, in milliseconds since the epoch. */
  nextDueMs = Infinity
  /** End of the pause, on the monotonic clock. */
  restsUntilMs = 0
  isResting = false
  /** The endpoint is paused: nothing is read or sent until it is resumed. */
  isPaused = false
  /** Number of resumptions. A `paused` result from before the latest resumption is ignored. */
  resumed = 0
  #width = widthAtFirst
  #failures = 0

  constructor(endpointId: string) {
    this.endpointId = endpointId
  }

  get hasRoom(): boolean {
    return this.inFlight.size < this.#width
  }

  /**
   * Whether the queue has no work now or later. The failure count is then dropped: all retries ended, so deliveries were parked or removed.
   */
  get isIdle(): boolean {
    return this.ready.length + this.inFlight.size === 0 && !this.hasUnread && !this.isReading && this.nextDueMs === Infinity
  }

  /** Loads the first rows of the endpoint from the store. `isWhole` means that the store has no further rows. */
  load(rows: readonly DueRow[], isWhole: boolean, now: number): void {
    this.nextDueMs = Infinity
    for (const row of rows) {
      if (row.dueMs > now) {
        this.nextDueMs = row.dueMs
        return
      }
      this.organizationId = row.organizationId
      if (!this.inFlight.has(row.id)) this.ready.push(row)
    }
    if (!isWhole) this.hasUnread = true
  }

  /** Drops the loaded rows, so that the next read starts again with the first row. */
  forget(): void {
    this.ready.length = 0
    this.hasUnread = true
  }

  succeeded(): void {
    this.#failures = 0
    this.#width = Math.min(maxWidth, this.#width + 1)
  }

  failed(monotonicMs: number, milliseconds: number): void {
    this.#failures++
    this.#width = this.#failures >= maxFailures ? 1 : Math.max(1, Math.floor(this.#width / 2))
    if (this.#failures >= maxFailures) this.restsUntilMs = monotonicMs + restTimes * milliseconds
  }
}
