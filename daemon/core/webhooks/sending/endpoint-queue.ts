/** What one endpoint has to be sent now, how many at a time it gets, and how it has been taking them. */
import type { DueRow } from '../delivery.ts'

/** So many at a time for an endpoint that answers well; a new one begins with fewer. */
const maxWidth = 10
const widthAtFirst = 2
/** After so many failures in a row an endpoint gets one at a time, and rests after each for this many times as long as it took. */
const maxFailures = 5
const restTimes = 3

export class EndpointQueue {
  readonly endpointId: string
  organizationId = ''
  /** Due now, in order. */
  readonly ready: DueRow[] = []
  /** Ids of deliveries that are being sent. */
  readonly inFlight = new Set<string>()
  /** The store may have more that is due. */
  hasUnread = true
  isReading = false
  /** When the next one that is not due yet is; in milliseconds since 1970. */
  nextDueMs = Infinity
  /** Until then nothing is sent; on the monotonic clock. */
  restsUntilMs = 0
  isResting = false
  /** The endpoint is paused: nothing is read or attempted until it is resumed. */
  isPaused = false
  /** How often it was resumed: an attempt that saw it paused before that says nothing. */
  resumed = 0
  #width = widthAtFirst
  #failures = 0

  constructor(endpointId: string) {
    this.endpointId = endpointId
  }

  get hasRoom(): boolean {
    return this.inFlight.size < this.#width
  }

  /** Nothing to do now or later. Its history is forgotten then: what is tried again is still due, so the rest was parked or is gone. */
  get isIdle(): boolean {
    return this.ready.length + this.inFlight.size === 0 && !this.hasUnread && !this.isReading && this.nextDueMs === Infinity
  }

  /** Takes the head of the endpoint's rows in the store. `isWhole`: there are no more of them. */
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

  /** What was read is left to the store, and read again from its beginning when it is time. */
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
