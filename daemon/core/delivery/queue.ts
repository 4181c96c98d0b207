/**
 * Hands queue entries to delivery attempts: per destination up to its connections and rate, in all up to a total, fairly
 * between destinations. Leases live in memory; after a crash every entry is due again.
 */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { dequeue, enqueue, queueHead, queuedDestinations, type QueueEntry } from '#store/queue.ts'
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
  /** Entries kept in memory for a destination; 2,048 when not given. */
  readonly readyMax?: number
  /** Bytes of content that may wait in memory for their first attempt. */
  readonly memoryBytesMax: number
  /** Hears of defects; the entry is tried again later. */
  readonly onError: (error: unknown, traceId: string) => void
}

/** After a defect in our own code an entry rests this long. */
const defectPauseMs = 60_000
const standardReadyMax = 2048
/** Timers run on the monotonic clock, due times on the wall clock, which can be set forward: so often it is looked at. */
const alarmMsMax = 2000
/** While a breaker is open it is looked at so often, as a test or new settings can end its pause. */
const breakerLookMs = 5000
/** Beyond this share of all connections a destination that has one gets no further, so that others that hang leave it one. */
const sharedPart = 0.75

export class DeliveryQueue {
  readonly #options: DeliveryQueueOptions
  readonly #lanes = new Map<string, Lane>()
  /** Destinations with work, in the order in which they get the next free connection. */
  readonly #hungry = new Set<Lane>()
  readonly #abort = new AbortController()
  readonly #closing = new AbortController()
  readonly #idle: (() => void)[] = []
  #active = 0
  #refills = 0
  #memoryBytes = 0
  #startedAtMs = Infinity
  #alarm: { readonly atMs: number; readonly timer: Timer } | undefined

  constructor(options: DeliveryQueueOptions) {
    this.#options = options
  }

  /** Takes up everything that is queued, also what an earlier process left. */
  async start(): Promise<void> {
    this.#startedAtMs = this.#options.clock.now()
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
    this.#closing.abort()
    this.#alarm?.timer.cancel()
    if (this.#active === 0 && this.#refills === 0) return
    const deadline = this.#options.clock.after(deadlineMs, () => this.#abort.abort())
    await new Promise<void>((resolve) => this.#idle.push(resolve))
    deadline.cancel()
  }

  /** Attempts under way, for metrics. */
  get active(): number {
    return this.#active
  }

  get #stopping(): boolean {
    return this.#closing.signal.aborted
  }

  #lane(destinationId: string): Lane {
    let lane = this.#lanes.get(destinationId)
    if (!lane) this.#lanes.set(destinationId, (lane = new Lane(destinationId, this.#options.readyMax ?? standardReadyMax)))
    return lane
  }

  #wake(lane: Lane): void {
    if (this.#stopping) return
    if (lane.ready.length > 0) this.#hungry.add(lane)
    else if (lane.unread && !lane.refilling) this.#later(this.#refill(lane))
    this.#setAlarm(lane.nextDueMs)
    this.#pump()
  }

  /** Gives free connections to hungry destinations, one each in turn. */
  #pump(): void {
    const { connectionsMax } = this.#options
    for (const lane of this.#hungry) {
      if (this.#stopping || this.#active >= connectionsMax) return
      if (lane.active > 0 && this.#active >= connectionsMax * sharedPart) continue
      this.#hungry.delete(lane)
      const next = lane.hasRoom ? lane.ready.shift() : undefined
      if (!next) continue
      if (lane.ready.length > 0) this.#hungry.add(lane) // at the end, so that the loop comes by again
      this.#active++
      lane.active++
      this.#later(this.#serve(lane, next))
    }
  }

  /** Makes one attempt, or puts the entry back when the destination's limits leave no room for it now. */
  async #serve(lane: Lane, next: Ready): Promise<void> {
    const known = lane.limits !== undefined && !lane.limits.breaker?.onTrial
    await this.#lookAtLimits(lane, next.entry)
    const waitMs = this.#waitMs(lane)
    if (!known) this.#wake(lane) // the others need not wait for the first one to end
    if (waitMs === 0) await this.#attempt(lane, next)
    else lane.ready.unshift(next)
    lane.active--
    this.#active--
    if (waitMs === 0) this.#wake(lane)
    else if (waitMs < Infinity) this.#rest(lane, waitMs)
    this.#pump()
    this.#settle(lane)
  }

  async #lookAtLimits(lane: Lane, { organizationId, traceId }: QueueEntry): Promise<void> {
    try {
      lane.limits = await this.#options.limitsOf(organizationId, lane.destinationId)
    } catch (error) {
      this.#options.onError(error, traceId)
    }
  }

  /** How long the destination's limits make an attempt wait that counts as active already; 0 takes the allowance. */
  #waitMs(lane: Lane): number {
    if (lane.active > lane.width) return Infinity // another one ends first, and wakes the lane
    const pauseMs = lane.limits?.breaker?.pauseMs ?? 0
    if (pauseMs > 0) return Math.min(pauseMs, breakerLookMs)
    const monotonic = this.#options.clock.monotonic()
    const restMs = lane.restMs(monotonic)
    if (restMs === 0) lane.takeAllowance(monotonic)
    return restMs
  }

  async #attempt(lane: Lane, { entry, content, fresh }: Ready): Promise<void> {
    // what was first queued since our start cannot have an attempt that an earlier process began
    const isOurs = fresh || (entry.attempts === 0 && entry.dueMs > this.#startedAtMs)
    let next: QueueEntry | undefined
    try {
      next = await this.#options.attempts.run(entry, content, isOurs, { signal: this.#abort.signal, nextCopy: () => this.#nextCopy(lane) })
    } catch (error) {
      this.#options.onError(error, entry.traceId)
      await this.#putOff(lane, entry)
    }
    this.#memoryBytes -= content?.length ?? 0
    lane.finish(entry)
    if (next?.destinationId === lane.destinationId) lane.offer({ entry: next, content: undefined, fresh: false }, this.#options.clock.now())
    else if (next) this.offer(next, undefined, false)
  }

  /** Every copy of a message takes an allowance of the rate limit, like a message of its own. False when the queue stops. */
  async #nextCopy(lane: Lane): Promise<boolean> {
    const { clock } = this.#options
    while (!this.#stopping) {
      const restMs = lane.restMs(clock.monotonic())
      if (restMs === 0) {
        lane.takeAllowance(clock.monotonic())
        return true
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      const wake = (): void => resolve()
      const timer = clock.after(restMs, wake)
      this.#closing.signal.addEventListener('abort', wake)
      await promise
      this.#closing.signal.removeEventListener('abort', wake)
      timer.cancel()
    }
    return false
  }

  /** After a defect the entry rests in the store, unless the attempt had come so far as to settle or reschedule it there. */
  async #putOff(lane: Lane, entry: QueueEntry): Promise<void> {
    const { database, clock, onError } = this.#options
    try {
      const [row] = await queueHead(database, lane.destinationId, { from: entry, limit: 1 })
      if (row?.traceId === entry.traceId && row.dueMs === entry.dueMs) {
        await database.commit(enqueue(dequeue(new Change(), entry), { ...entry, dueMs: clock.now() + defectPauseMs }))
      }
      lane.readFrom(entry)
    } catch (error) {
      onError(error, entry.traceId) // the store failed, which ends the process; the next one finds the entry
    }
  }

  async #refill(lane: Lane): Promise<void> {
    const from = lane.beginRefill()
    const limit = lane.refillLimit
    this.#refills++
    let entries: QueueEntry[] = []
    try {
      entries = await queueHead(this.#options.database, lane.destinationId, { from, limit })
    } catch (error) {
      this.#options.onError(error, '')
      if (from) lane.readFrom(from)
      this.#rest(lane, defectPauseMs)
    }
    this.#refills--
    lane.refill(entries, limit, this.#options.clock.now())
    if (!lane.resting) this.#wake(lane)
    this.#settle(lane)
  }

  #rest(lane: Lane, ms: number): void {
    if (lane.resting) return
    lane.resting = true
    this.#options.clock.after(ms, () => {
      lane.resting = false
      this.#wake(lane)
      this.#settle(lane)
    })
  }

  #setAlarm(atMs: number): void {
    if (atMs === Infinity || this.#stopping || (this.#alarm && this.#alarm.atMs <= atMs)) return
    this.#alarm?.timer.cancel()
    const { clock } = this.#options
    this.#alarm = { atMs, timer: clock.after(Math.min(atMs - clock.now(), alarmMsMax), () => this.#ring()) }
  }

  /** Something is due: destinations with due entries read them. */
  #ring(): void {
    const now = this.#options.clock.now()
    const { atMs = now } = this.#alarm ?? {}
    this.#alarm = undefined
    if (atMs > now) return this.#setAlarm(atMs)
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
    if (lane.idle && lane.active === 0) {
      const restMs = lane.restMs(this.#options.clock.monotonic())
      if (restMs > 0)
        this.#rest(lane, restMs) // a lane made anew would not know of the last attempt
      else if (!lane.resting) this.#lanes.delete(lane.destinationId)
    }
    if (this.#active === 0 && this.#refills === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  #later(work: Promise<void>): void {
    work.catch((error: unknown) => this.#options.onError(error, ''))
  }
}
