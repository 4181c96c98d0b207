/**
 * Starts attempts of due deliveries, round robin over endpoints. Limits concurrent attempts per endpoint, per organization and in total.
 * Due rows are stored, so a restart finds them.
 */
import { globalKey } from '#store/record-kind.ts'
import { within } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import type { Timer } from '../../clock.ts'
import type { DeliveryAttempts } from './attempts.ts'
import { deliveryWork, dueKey, resumedWork, toDueRow, type DueRow } from '../delivery.ts'
import { EndpointQueue } from './endpoint-queue.ts'
import { cleanupWork, cleanUp } from './cleanup.ts'

export interface DispatcherOptions extends Core {
  readonly attempts: Pick<DeliveryAttempts, 'run'>
  /** Called with internal errors. */
  readonly onError: (error: unknown, id: string) => void
  /** Maximum concurrent deliveries, in total and per organization. */
  readonly maxActive?: number
  readonly maxActiveOfOne?: number
}

const maxStandardActive = 128
const maxStandardActiveOfOne = 32
/** Maximum number of rows read at once per endpoint. */
const maxRead = 64
/** Maximum timer duration. Timers use the monotonic clock; due times use the wall clock, which can jump forward. */
const maxAlarmMs = 2000
/** Pause of an endpoint after an internal error. */
const defectPauseMs = 60_000

export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #maxActive: number
  readonly #maxActiveOfOne: number
  readonly #queues = new Map<string, EndpointQueue>()
  /** Queues with deliveries that are ready, in round-robin order. */
  readonly #turns = new Set<EndpointQueue>()
  /** By organization: attempts in progress, and queues that are waiting for the organization's limit. */
  readonly #active = new Map<string, number>()
  readonly #waiting = new Map<string, Set<EndpointQueue>>()
  readonly #abort = new AbortController()
  readonly #inFlight = new Set<Promise<void>>()
  #total = 0
  #hasLeftovers = false
  #isRemoving = false
  #stopping = false
  #alarm: { readonly atMs: number; readonly timer: Timer } | undefined

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#maxActive = options.maxActive ?? maxStandardActive
    this.#maxActiveOfOne = options.maxActiveOfOne ?? maxStandardActiveOfOne
  }

  /** Attempts in progress, for metrics. */
  get active(): number {
    return this.#total
  }

  /** Starts with the stored due rows of an earlier process. Subscribes to new due rows, resumed endpoints and deleted endpoints. */
  async start(): Promise<void> {
    const { database } = this.#options
    database.onWork(deliveryWork, (endpointIds) => {
      for (const id of endpointIds) this.#look(this.#queue(id))
    })
    database.onWork(resumedWork, (endpointIds) => {
      for (const id of endpointIds) this.#resume(this.#queue(id))
    })
    database.onWork(cleanupWork, () => this.#cleanUp())
    this.#cleanUp()
    for (const endpointId of await this.#endpointsWithRows()) this.#look(this.#queue(endpointId))
  }

  /** Stops the start of attempts. Resolves when all attempts in progress have ended; attempts are aborted after the deadline. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true
    this.#alarm?.timer.cancel()
    const deadline = this.#options.clock.after(deadlineMs, () => this.#abort.abort())
    await Promise.all(this.#inFlight)
    deadline.cancel()
  }

  /** Resolves when no read, attempt or removal is in progress. Deliveries that are due later remain. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight)
  }

  /** Returns every endpoint with due rows, with one seek per endpoint. */
  async #endpointsWithRows(): Promise<string[]> {
    const found: string[] = []
    const all = within(globalKey('webhook.due'))
    for (let { start } = all; ;) {
      let next: DueRow | undefined
      for await (const row of this.#options.database.kv.range({ start, end: all.end, limit: 1 })) next = toDueRow(row)
      if (!next) return found
      found.push(next.endpointId)
      start = within(dueKey(next.endpointId)).end
    }
  }

  #queue(endpointId: string): EndpointQueue {
    let queue = this.#queues.get(endpointId)
    if (!queue) this.#queues.set(endpointId, (queue = new EndpointQueue(endpointId)))
    return queue
  }

  /** Reads the queue's rows again: called after a write added rows, and at the due time of the next delivery. */
  #look(queue: EndpointQueue): void {
    queue.hasUnread = true
    queue.nextDueMs = Infinity // the read sets it again
    this.#settle(queue)
    this.#pump()
  }

  #resume(queue: EndpointQueue): void {
    queue.isPaused = false
    queue.resumed++
    this.#look(queue)
  }

  /**
   * Adds the queue to the round robin, reads its rows, or removes an idle queue. Skips a paused queue, which would otherwise be read
   * repeatedly.
   */
  #settle(queue: EndpointQueue): void {
    if (queue.isPaused) return
    if (queue.ready.length > 0) this.#turns.add(queue)
    else if (queue.hasUnread && !queue.isReading) this.#later(this.#read(queue), queue.endpointId)
    else if (queue.isIdle) this.#queues.delete(queue.endpointId)
    this.#setAlarm(queue.nextDueMs)
  }

  async #read(queue: EndpointQueue): Promise<void> {
    if (this.#stopping) return
    queue.isReading = true
    queue.hasUnread = false
    queue.nextDueMs = Infinity
    try {
      const limit = maxRead + queue.inFlight.size
      const rows: DueRow[] = []
      for await (const row of this.#options.database.kv.range({ ...within(dueKey(queue.endpointId)), limit })) rows.push(toDueRow(row))
      queue.load(rows, rows.length < limit, this.#options.clock.now())
    } catch (error) {
      this.#options.onError(error, queue.endpointId)
      queue.nextDueMs = this.#options.clock.now() + defectPauseMs
    }
    queue.isReading = false
    this.#settle(queue)
    this.#pump()
  }

  /** Starts attempts up to the limits. */
  #pump(): void {
    for (const queue of this.#turns) {
      if (this.#stopping || this.#total >= this.#maxActive) return
      this.#turns.delete(queue)
      const row = this.#mayGo(queue) ? queue.ready.shift() : undefined
      if (!row) continue
      queue.inFlight.add(row.id)
      this.#count(queue.organizationId, 1)
      this.#later(this.#attempt(queue, row), row.id)
      if (queue.ready.length > 0) this.#turns.add(queue) // at the end of the rotation
    }
  }

  /** Whether the queue may start an attempt. If not, the queue returns to the rotation when its pause or another attempt ends. */
  #mayGo(queue: EndpointQueue): boolean {
    const { clock } = this.#options
    const restMs = queue.restsUntilMs - clock.monotonic()
    if (queue.isPaused || !queue.hasRoom) return false
    if (restMs > 0) {
      if (!queue.isResting) clock.after(restMs, () => this.#wake(queue))
      queue.isResting = true
      return false
    }
    if ((this.#active.get(queue.organizationId) ?? 0) < this.#maxActiveOfOne) return true
    const waiting = this.#waiting.get(queue.organizationId) ?? new Set()
    this.#waiting.set(queue.organizationId, waiting.add(queue))
    return false
  }

  #wake(queue: EndpointQueue): void {
    queue.isResting = false
    this.#enter([queue])
    this.#pump()
  }

  #enter(queues: Iterable<EndpointQueue>): void {
    for (const queue of queues) if (queue.ready.length > 0) this.#turns.add(queue)
  }

  async #attempt(queue: EndpointQueue, row: DueRow): Promise<void> {
    const { attempts, clock, onError } = this.#options
    const { resumed } = queue
    try {
      const result = await attempts.run(row, this.#abort.signal)
      if (result === 'paused') {
        queue.isPaused = queue.resumed === resumed
        queue.forget() // the next read starts with the skipped deliveries
      } else if (result?.isGood) queue.succeeded()
      else if (result) queue.failed(clock.monotonic(), result.milliseconds)
    } catch (error) {
      onError(error, row.id)
      queue.restsUntilMs = clock.monotonic() + defectPauseMs
    }
    queue.inFlight.delete(row.id)
    queue.hasUnread = true // the delivery may be due again
    this.#count(queue.organizationId, -1)
    const waiting = this.#waiting.get(queue.organizationId) ?? []
    this.#waiting.delete(queue.organizationId)
    this.#enter(waiting)
    this.#settle(queue) // queues that waited for the organization's limit come first
    this.#pump()
  }

  #count(organizationId: string, by: 1 | -1): void {
    this.#total += by
    const active = (this.#active.get(organizationId) ?? 0) + by
    if (active > 0) this.#active.set(organizationId, active)
    else this.#active.delete(organizationId)
  }

  #setAlarm(atMs: number): void {
    if (this.#stopping || atMs === Infinity || (this.#alarm && this.#alarm.atMs <= atMs)) return
    this.#alarm?.timer.cancel()
    const { clock } = this.#options
    const timer = clock.after(Math.min(maxAlarmMs, atMs - clock.now()), () => this.#ring())
    this.#alarm = { atMs, timer }
  }

  #ring(): void {
    this.#alarm = undefined
    const now = this.#options.clock.now()
    for (const queue of [...this.#queues.values()]) {
      if (queue.nextDueMs <= now) this.#look(queue)
      else this.#setAlarm(queue.nextDueMs)
    }
  }

  #cleanUp(): void {
    this.#hasLeftovers = true
    if (this.#isRemoving) return
    this.#isRemoving = true
    this.#later(
      this.#remove().finally(() => (this.#isRemoving = false)),
      '',
    )
  }

  async #remove(): Promise<void> {
    while (this.#hasLeftovers && !this.#stopping) {
      this.#hasLeftovers = false
      await cleanUp({ database: this.#options.database, stopping: () => this.#stopping })
    }
  }

  #later(work: Promise<void>, id: string): void {
    const done = work.catch((error: unknown) => this.#options.onError(error, id)).finally(() => this.#inFlight.delete(done))
    this.#inFlight.add(done)
  }
}
