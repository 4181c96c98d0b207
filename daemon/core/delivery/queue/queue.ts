/**
 * Hands queue entries to delivery attempts, within the connections and rate of each destination and a total, and fairly between projects
 * and destinations. Waiting entries stay in the store; after a crash every entry is due again. If several daemons share the store, each
 * daemon handles the destinations of some parts of the queue. Other daemons notify it of new entries.
 */
import { oldestSince, queueHead, queuedParts, type QueueEntry, type QueuePart } from '#store/queue.ts'
import { QueueParts, queuedTopic, toQueued } from './queue-parts.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import type { Timer } from '../../clock.ts'
import type { Trace } from '../../trace/trace.ts'
import type { Attempts } from '../attempt/attempt.ts'
import { DestinationLoad, type DeliveryLimits } from '../health/destination-load.ts'
import { DestinationQueue, weightOf, type Ready } from './destination-queue.ts'
import { defectPauseMs, restAfterDefect } from './rest-after-defect.ts'
import { RoundRobin } from './round-robin.ts'

export interface DeliveryQueueOptions extends Core {
  readonly attempts: Pick<Attempts, 'run'>
  /** Returns the current limits of a destination. Entries of a deleted destination still fail through an attempt. */
  readonly limitsOf: (organizationId: string, destinationId: string) => Promise<DeliveryLimits>
  readonly maxConnections: number
  /** Maximum entries in memory for one project at one destination; default 2,048. */
  readonly maxReady?: number
  /** Maximum entries in memory in total; default 65,536. A small minimum per project and destination may exceed it. */
  readonly readyTotal?: number
  /** Maximum bytes of messages in memory that wait for their first attempt. */
  readonly maxMemoryBytes: number
  /** Called with internal errors; the entry is tried again later. */
  readonly onError: (error: unknown, traceId: string) => void
}

/** State of one queue, for display. */
export interface QueueLane extends QueuePart {
  /** Undefined if no entry is in memory. */
  readonly organizationId: string | undefined
  readonly active: number
  readonly ready: number
  readonly nextDueMs: number | null
}

const maxStandardReady = 2048
const standardReadyTotal = 65_536
/** Below this number, reading entries would cost more than sending them. */
const readyMin = 16
/** Maximum time between checks of due times. Timers use the monotonic clock, but the wall clock of due times can be set forward. */
const maxAlarmMs = 2000
/** A trace with more recipients is read again from the store. */
const maxCarriedRecipients = 4
/** Interval of checks during a breaker's pause, which a test or new settings can end. */
const breakerLookMs = 5000

export class DeliveryQueue {
  readonly #options: DeliveryQueueOptions
  readonly #loads = new Map<string, DestinationLoad>()
  /** By destination and project. */
  readonly #queues = new Map<string, DestinationQueue>()
  /** Released queues with attempts in flight. */
  readonly #leaving = new Set<DestinationQueue>()
  readonly #roundRobin: RoundRobin
  readonly #abort = new AbortController()
  readonly #idle: (() => void)[] = []
  /** Traces whose attempt ended with an internal error and may have begun. */
  readonly #possiblyStarted = new Set<string>()
  #refills = 0
  #memoryBytes = 0
  #stopping = false
  #startedAtMs = Infinity
  readonly #parts: QueueParts
  #alarm: { readonly atMs: number; readonly timer: Timer } | undefined

  constructor(options: DeliveryQueueOptions) {
    this.#options = options
    this.#roundRobin = new RoundRobin(options.maxConnections)
    const { daemons } = options.database
    this.#parts = new QueueParts(daemons, { take: (number) => this.#take(number), release: (number) => this.#release(number) })
    daemons.subscribe(queuedTopic, (items) => items.forEach((item) => this.#queuedElsewhere(item)))
    daemons.onGap(() => this.#later(this.#takeUp((part) => this.#parts.holds(part))))
  }

  /**
   * Starts delivery of all queued entries, including entries of an earlier process. With several daemons, only of the parts assigned to
   * this daemon.
   */
  async start(): Promise<void> {
    const { clock, database } = this.#options
    if (database.daemons.isAlone) this.#startedAtMs = clock.now()
    await this.#parts.share()
  }

  #take(number: number | undefined): Promise<void> {
    for (const queue of this.#leaving) if (this.#parts.numberOf(queue) === number) this.#takeBack(queue)
    return this.#takeUp((part) => number === undefined || this.#parts.numberOf(part) === number)
  }

  async #takeUp(isMeant: (part: QueuePart) => boolean): Promise<void> {
    const queues = (await queuedParts(this.#options.database)).filter(isMeant).map((part) => this.#queue(part))
    queues.forEach((queue) => queue.readFrom({ dueMs: 0, traceId: '' }))
    queues.forEach((queue) => this.#wake(queue))
  }

  /** Stops new attempts of a part. Resolves when its attempts in flight have ended. */
  async #release(number: number | undefined): Promise<void> {
    const ended: Promise<void>[] = []
    for (const [key, queue] of this.#queues) {
      if (number !== undefined && this.#parts.numberOf(queue) !== number) continue
      for (const { content } of queue.release()) this.#memoryBytes -= weightOf(content)
      this.#forget(key, queue)
      if (queue.active === 0) continue
      this.#leaving.add(queue)
      ended.push(new Promise((resolve) => queue.onEnded.push(resolve)))
    }
    await Promise.all(ended)
  }

  /** Takes back a released queue whose attempts are still in flight, so that they do not begin twice. */
  #takeBack(queue: DestinationQueue): void {
    this.#leaving.delete(queue)
    queue.isReleased = false
    this.#queues.set(queueKey(queue.destinationId, queue.projectId), queue)
    queue.load.projects++
  }

  /** Schedules an entry that another daemon announces, if this daemon handles its destination. */
  #queuedElsewhere(item: string): void {
    const { dueMs, ...part } = toQueued(item)
    if (!this.#parts.holds(part)) return
    const queue = this.#queue(part)
    queue.queuedElsewhere(dueMs, this.#options.clock.now())
    this.#wake(queue)
  }

  /** Offers a message that was just accepted or rescheduled. */
  offer(entry: QueueEntry, content: readonly Uint8Array[] | undefined, fresh: boolean, trace?: Stored<Trace>): void {
    if (!this.#parts.holds(entry)) return this.#parts.publish(entry)
    const queue = this.#queue(entry)
    const bytes = weightOf(content)
    const isKept = content !== undefined && this.#memoryBytes + bytes <= this.#options.maxMemoryBytes
    const isSmall = (trace?.record.recipients.length ?? 0) <= maxCarriedRecipients
    const ready = { entry, fresh, ...(isKept && { content, trace: isSmall ? trace : undefined }) }
    if (queue.offer(ready, this.#options.clock.now()) && isKept) this.#memoryBytes += bytes
    this.#wake(queue)
  }

  /** Stops new attempts. Resolves when all attempts in flight have ended; aborts them after the deadline. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true
    this.#alarm?.timer.cancel()
    const left = this.#parts.leave()
    for (const { copies } of this.#loads.values()) for (const begin of copies.splice(0)) begin(false)
    if (this.active === 0 && this.#refills === 0) return await left
    const deadline = this.#options.clock.after(deadlineMs, () => this.#abort.abort())
    await new Promise<void>((resolve) => this.#idle.push(resolve))
    await left
    deadline.cancel()
  }

  /** Milliseconds since the earliest due time in memory, for metrics; 0 if no entry is late. */
  overdueMs(): number {
    const now = this.#options.clock.now()
    let earliest = now
    for (const { earliestDueMs } of this.#queues.values()) earliest = Math.min(earliest, earliestDueMs)
    return now - earliest
  }

  /**
   * Milliseconds since the earliest due time of a message that is late or was deferred, for metrics. The age of a deferred message counts
   * from the due time of its first attempt. 0 without such messages.
   */
  async oldestMs(): Promise<number> {
    const since = await oldestSince(this.#options.database)
    return Math.max(this.overdueMs(), since === undefined ? 0 : this.#options.clock.now() - since)
  }

  /** Returns the queues in memory by destination and project. */
  lanes(): QueueLane[] {
    return [...this.#queues.values()].map(({ destinationId, projectId, active, ready, nextDueMs }) => ({
      ...{ destinationId, projectId, active, ready: ready.length },
      organizationId: ready[0]?.entry.organizationId,
      nextDueMs: nextDueMs === Infinity ? null : nextDueMs,
    }))
  }

  /** Attempts in flight, for metrics. */
  get active(): number {
    return this.#roundRobin.active
  }

  #queue({ destinationId, projectId }: QueuePart): DestinationQueue {
    const key = queueKey(destinationId, projectId)
    let queue = this.#queues.get(key)
    if (!queue) {
      const load = this.#load(destinationId)
      this.#queues.set(key, (queue = new DestinationQueue(load, projectId, this.#maxReady)))
      load.projects++
    }
    return queue
  }

  #load(destinationId: string): DestinationLoad {
    let load = this.#loads.get(destinationId)
    if (!load) this.#loads.set(destinationId, (load = new DestinationLoad(destinationId)))
    return load
  }

  /** Maximum entries in memory for each project and destination. */
  readonly #maxReady = (): number => {
    const { maxReady = maxStandardReady, readyTotal = standardReadyTotal } = this.#options
    return Math.min(maxReady, Math.max(readyMin, Math.floor(readyTotal / this.#queues.size)))
  }

  #wake(queue: DestinationQueue): void {
    if (this.#stopping || queue.isReleased) return
    // entries that are still being read can be due earlier than entries in memory
    if (queue.ready.length > 0 && !queue.refilling) this.#roundRobin.add(queue)
    else if (queue.unread && !queue.refilling) this.#later(this.#refill(queue))
    this.#setAlarm(queue.nextDueMs)
    this.#pump()
  }

  /** Assigns free connections to the next queues. */
  #pump(): void {
    for (let queue: DestinationQueue | undefined; !this.#stopping && (queue = this.#roundRobin.next());) {
      const { load, ready } = queue
      const monotonic = this.#options.clock.monotonic()
      const restMs = load.restMs(monotonic)
      if (restMs > 0) this.#rest(load, restMs)
      const next = load.hasRoom ? ready.shift() : undefined
      if (next) {
        this.#roundRobin.began(queue, monotonic)
        this.#later(this.#serve(queue, next))
      }
      if (ready.length === 0) continue
      if (next) this.#roundRobin.add(queue)
      else this.#roundRobin.wait(queue)
    }
  }

  /** Begins attempts that wait for room at the destination. */
  #admit(load: DestinationLoad): void {
    while (load.hasRoom && this.#roundRobin.release(load)) this.#pump()
  }

  /** Makes one attempt, or puts the entry back if the destination's limits leave no room. */
  async #serve(queue: DestinationQueue, next: Ready): Promise<void> {
    const { load } = queue
    const { width } = load
    await this.#lookAtLimits(load, next.entry)
    const isPaused = load.pauseMs > 0
    if (load.width > width) this.#admit(load) // other attempts need not wait for the end of this attempt
    if (queue.isReleased) {
      this.#memoryBytes -= weightOf(next.content)
      queue.held.delete(next.entry.traceId)
    } else if (isPaused || load.active > load.width) queue.ready.unshift(next)
    else await this.#attempt(queue, next)
    this.#roundRobin.ended(queue)
    if (queue.active === 0) this.#leaving.delete(queue)
    if (queue.active === 0) for (const ended of queue.onEnded.splice(0)) ended()
    if (isPaused) this.#rest(load, Math.min(load.pauseMs, breakerLookMs))
    this.#wake(queue)
    this.#admit(load)
    this.#settle(queue)
  }

  async #lookAtLimits(load: DestinationLoad, { organizationId, traceId }: QueueEntry): Promise<void> {
    try {
      load.limits = await this.#options.limitsOf(organizationId, load.destinationId)
    } catch (error) {
      this.#options.onError(error, traceId)
    }
  }

  async #attempt(queue: DestinationQueue, { entry, content, trace, fresh }: Ready): Promise<void> {
    // an entry first queued after our start cannot have an attempt of an earlier process
    const isOurs = !this.#possiblyStarted.delete(entry.traceId) && (fresh || (entry.attempts === 0 && entry.dueMs > this.#startedAtMs))
    let next: QueueEntry | undefined
    try {
      const under = { signal: this.#abort.signal, nextCopy: () => this.#nextCopy(queue.load) }
      next = await this.#options.attempts.run(entry, { content, trace, fresh: isOurs }, under)
    } catch (error) {
      this.#options.onError(error, entry.traceId)
      this.#possiblyStarted.add(entry.traceId)
      this.#memoryBytes -= weightOf(content)
      if (await restAfterDefect(this.#options, entry)) queue.tryAgain(entry)
      else this.#options.clock.after(defectPauseMs, () => this.#wake(queue.tryAgain(entry))) // other entries continue
      return
    }
    this.#memoryBytes -= weightOf(content)
    queue.finish(entry)
    if (queue.isReleased && next?.destinationId === queue.destinationId) return // the other daemon finds it in the store
    if (next?.destinationId === queue.destinationId)
      queue.offer({ entry: next, content: undefined, fresh: false }, this.#options.clock.now())
    else if (next) this.offer(next, undefined, false)
  }

  /** Waits for the rate limit before each copy of a message. Resolves with false when the queue stops. */
  #nextCopy(load: DestinationLoad): Promise<boolean> {
    if (this.#stopping) return Promise.resolve(false)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    load.copies.push(resolve)
    this.#beginCopy(load)
    return promise
  }

  /** Begins the longest-waiting copy if the rate limit permits it. */
  #beginCopy(load: DestinationLoad): void {
    const monotonic = this.#options.clock.monotonic()
    if (load.copies.length > 0 && load.restMs(monotonic) === 0) {
      load.takeAllowance(monotonic)
      load.copies.shift()?.(true)
    }
    if (load.copies.length > 0) this.#rest(load, load.restMs(monotonic))
  }

  async #refill(queue: DestinationQueue): Promise<void> {
    const from = queue.beginRefill()
    const limit = queue.refillLimit
    this.#refills++
    let entries: QueueEntry[] = []
    let failed = false
    try {
      entries = await queueHead(this.#options.database, queue, { from, limit })
    } catch (error) {
      this.#options.onError(error, '')
      if (from) queue.readFrom(from)
      failed = true
    }
    this.#refills--
    queue.refill(entries, limit, this.#options.clock.now())
    if (failed) this.#options.clock.after(defectPauseMs, () => this.#wake(queue))
    else this.#wake(queue)
    this.#settle(queue)
  }

  #rest(load: DestinationLoad, ms: number): void {
    if (load.resting) return
    load.resting = true
    this.#options.clock.after(ms, () => {
      load.resting = false
      load.isCopysTurn = !load.isCopysTurn
      if (load.isCopysTurn) this.#beginCopy(load)
      this.#admit(load)
      this.#beginCopy(load)
      this.#settleLoad(load)
    })
  }

  #setAlarm(atMs: number): void {
    if (atMs === Infinity || this.#stopping || (this.#alarm && this.#alarm.atMs <= atMs)) return
    this.#alarm?.timer.cancel()
    const { clock } = this.#options
    this.#alarm = { atMs, timer: clock.after(Math.min(atMs - clock.now(), maxAlarmMs), () => this.#ring()) }
  }

  /** Reads entries that have become due. */
  #ring(): void {
    const now = this.#options.clock.now()
    const { atMs = now } = this.#alarm ?? {}
    this.#alarm = undefined
    if (atMs > now) return this.#setAlarm(atMs)
    for (const queue of this.#queues.values()) {
      if (queue.nextDueMs > now) {
        this.#setAlarm(queue.nextDueMs)
        continue
      }
      queue.readFrom({ dueMs: queue.nextDueMs, traceId: '' })
      queue.nextDueMs = Infinity
      this.#wake(queue)
    }
  }

  /** Removes queues and loads without work. */
  #settle(queue: DestinationQueue): void {
    const { load } = queue
    const key = queueKey(queue.destinationId, queue.projectId)
    if (queue.idle && this.#queues.get(key) === queue) this.#forget(key, queue)
    else this.#settleLoad(load)
    if (this.active === 0 && this.#refills === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  #forget(key: string, { load }: DestinationQueue): void {
    this.#queues.delete(key)
    load.projects--
    this.#settleLoad(load)
  }

  #settleLoad(load: DestinationLoad): void {
    if (load.projects > 0 || load.active > 0) return
    const restMs = load.restMs(this.#options.clock.monotonic())
    if (restMs > 0)
      this.#rest(load, restMs) // a new load would not know the time of the last attempt
    else if (!load.resting) this.#loads.delete(load.destinationId)
  }

  #later(work: Promise<void>): void {
    work.catch((error: unknown) => this.#options.onError(error, ''))
  }
}

const queueKey = (destinationId: string, projectId: string): string => `${destinationId} ${projectId}`
