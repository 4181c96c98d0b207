/**
 * Hands queue entries to delivery attempts: per destination up to its connections and rate, in all up to a total, fairly
 * between destinations. Leases live in memory; after a crash every entry is due again.
 */
import type { Database } from '#store/database.ts'
import { queueHead, queuedDestinations, type QueueEntry } from '#store/queue.ts'
import type { Clock, Timer } from '../clock.ts'
import type { Attempts } from './attempt.ts'
import { Lane, type LaneLimits, type Ready } from './lane.ts'

export interface DeliveryQueueOptions {
  readonly database: Database
  readonly clock: Clock
  readonly attempts: Pick<Attempts, 'run'>
  /** Limits of a destination now; a destination that is gone still gets its entries failed. */
  readonly limitsOf: (organizationId: string, destinationId: string) => Promise<LaneLimits>
  readonly connectionsMax: number
  /** Bytes of content that may wait in memory for their first attempt. */
  readonly memoryBytesMax: number
  /** Hears of defects; the entry is tried again later. */
  readonly onError: (error: unknown, traceId: string) => void
}

/** After a defect in our own code an entry rests this long. */
const defectPauseMs = 60_000

export class DeliveryQueue {
  readonly #options: DeliveryQueueOptions
  readonly #lanes = new Map<string, Lane>()
  /** Destinations with work, in the order in which they get the next free connection. */
  readonly #hungry = new Set<Lane>()
  readonly #abort = new AbortController()
  readonly #idle: (() => void)[] = []
  #active = 0
  #memoryBytes = 0
  #stopping = false
  #alarm: { readonly atMs: number; readonly timer: Timer } | undefined

  constructor(options: DeliveryQueueOptions) {
    this.#options = options
  }

  /** Takes up everything that is queued, also what an earlier process left. */
  async start(): Promise<void> {
    for (const destinationId of await queuedDestinations(this.#options.database)) {
      this.#lane(destinationId).readFrom({ dueMs: 0, traceId: '' })
      this.#wake(this.#lane(destinationId))
    }
  }

  /** A message that was accepted or rescheduled just now. */
  offer(entry: QueueEntry, content: Uint8Array | undefined, fresh: boolean): void {
    const lane = this.#lane(entry.destinationId)
    const bytes = content?.length ?? 0
    const fits = this.#memoryBytes + bytes <= this.#options.memoryBytesMax
    const kept = lane.offer({ entry, content: fits ? content : undefined, fresh }, this.#options.clock.now())
    if (kept && fits) this.#memoryBytes += bytes
    this.#wake(lane)
  }

  /** Begins no more attempts; resolves when those under way are done, which are broken off after the deadline. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true
    this.#alarm?.timer.cancel()
    if (this.#active === 0) return
    const deadline = this.#options.clock.after(deadlineMs, () => this.#abort.abort())
    await new Promise<void>((resolve) => this.#idle.push(resolve))
    deadline.cancel()
  }

  /** Attempts under way, for metrics. */
  get active(): number {
    return this.#active
  }

  #lane(destinationId: string): Lane {
    let lane = this.#lanes.get(destinationId)
    if (!lane) this.#lanes.set(destinationId, (lane = new Lane(destinationId)))
    return lane
  }

  #wake(lane: Lane): void {
    if (lane.ready.length > 0) this.#hungry.add(lane)
    else if (lane.unread && !lane.refilling) this.#later(this.#refill(lane))
    this.#setAlarm(lane.nextDueMs)
    this.#pump()
  }

  /** Gives free connections to hungry destinations, one each in turn. */
  #pump(): void {
    while (!this.#stopping && this.#active < this.#options.connectionsMax) {
      const [lane] = this.#hungry
      if (!lane) return
      this.#hungry.delete(lane)
      const next = lane.hasRoom ? lane.ready.shift() : undefined
      if (!next) continue
      if (lane.ready.length > 0) this.#hungry.add(lane)
      this.#active++
      lane.active++
      this.#later(this.#serve(lane, next))
    }
  }

  /** Makes one attempt, or puts the entry back when the destination's limits leave no room for it now. */
  async #serve(lane: Lane, next: Ready): Promise<void> {
    lane.limits = await this.#options.limitsOf(next.entry.organizationId, lane.destinationId)
    const waitMs = lane.active > lane.limits.maxConnections ? Infinity : lane.waitMs(this.#options.clock.now())
    if (waitMs === 0) await this.#attempt(lane, next)
    else lane.ready.unshift(next)
    lane.active--
    this.#active--
    if (waitMs === 0) this.#wake(lane)
    else if (waitMs < Infinity) this.#options.clock.after(waitMs, () => this.#wake(lane))
    this.#pump()
    this.#settle(lane)
  }

  async #attempt(lane: Lane, { entry, content, fresh }: Ready): Promise<void> {
    const bytes = content?.length ?? 0
    let next: QueueEntry | undefined
    try {
      next = await this.#options.attempts.run(entry, content, fresh, this.#abort.signal)
    } catch (error) {
      this.#options.onError(error, entry.traceId)
      next = { ...entry, dueMs: this.#options.clock.now() + defectPauseMs }
    }
    this.#memoryBytes -= bytes
    lane.held.delete(entry.traceId)
    if (next) lane.offer({ entry: next, content: undefined, fresh: false }, this.#options.clock.now())
  }

  async #refill(lane: Lane): Promise<void> {
    const from = lane.unread
    lane.refilling = true
    lane.unread = undefined
    const limit = lane.refillLimit
    const entries = await queueHead(this.#options.database, lane.destinationId, { from, limit })
    lane.refill(entries, limit, this.#options.clock.now())
    lane.refilling = false
    this.#wake(lane)
    this.#settle(lane)
  }

  #setAlarm(atMs: number): void {
    if (atMs === Infinity || this.#stopping || (this.#alarm && this.#alarm.atMs <= atMs)) return
    this.#alarm?.timer.cancel()
    this.#alarm = { atMs, timer: this.#options.clock.after(atMs - this.#options.clock.now(), () => this.#ring()) }
  }

  /** Something is due: destinations with due entries read them. */
  #ring(): void {
    this.#alarm = undefined
    const now = this.#options.clock.now()
    for (const lane of this.#lanes.values()) {
      if (lane.nextDueMs > now) {
        this.#setAlarm(lane.nextDueMs)
        continue
      }
      lane.readFrom({ dueMs: lane.nextDueMs, traceId: '' })
      lane.nextDueMs = Infinity
      this.#wake(lane)
    }
  }

  #settle(lane: Lane): void {
    if (lane.idle && lane.active === 0) this.#lanes.delete(lane.destinationId)
    if (this.#active === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  #later(work: Promise<void>): void {
    work.catch((error: unknown) => this.#options.onError(error, ''))
  }
}
