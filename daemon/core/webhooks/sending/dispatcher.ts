/**
 * Hands due deliveries to attempts: for each endpoint a few at a time, for each organization and in all up to a limit, endpoints in turn.
 * What is due stands in the store; after a crash it is found there.
 */
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { within } from '#store/tuple.ts'
import type { Clock, Timer } from '../../clock.ts'
import type { DeliveryAttempts } from './attempts.ts'
import { deliveryWork, dueKey, resumedWork, toDueRow, type DueRow } from '../delivery.ts'
import { Lane } from './endpoint-queue.ts'
import { leftoverWork, removeLeftovers } from './cleanup.ts'

export interface DispatcherOptions {
  readonly database: Database
  readonly clock: Clock
  readonly attempts: Pick<DeliveryAttempts, 'run'>
  /** Hears of defects. */
  readonly onError: (error: unknown, id: string) => void
  /** Deliveries at a time in all, and for one organization. */
  readonly activeMax?: number
  readonly activeOfOneMax?: number
}

const standardActiveMax = 128
const standardActiveOfOneMax = 32
/** Rows that are read at a time for one endpoint. */
const readMax = 64
/** Timers run on the monotonic clock, due times on the wall clock, which can be set forward: so often it is looked at. */
const alarmMsMax = 2000
/** After a defect in our own code an endpoint rests this long. */
const defectPauseMs = 60_000

export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #activeMax: number
  readonly #activeOfOneMax: number
  readonly #lanes = new Map<string, Lane>()
  /** Lanes that may have something to send, in turn. */
  readonly #turns = new Set<Lane>()
  /** By organization: what is under way, and lanes that wait for its share. */
  readonly #active = new Map<string, number>()
  readonly #waiting = new Map<string, Set<Lane>>()
  readonly #abort = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
  #total = 0
  #hasLeftovers = false
  #isRemoving = false
  #stopping = false
  #alarm: { readonly atMs: number; readonly timer: Timer } | undefined

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#activeMax = options.activeMax ?? standardActiveMax
    this.#activeOfOneMax = options.activeOfOneMax ?? standardActiveOfOneMax
  }

  /** Deliveries under way, for metrics. */
  get active(): number {
    return this.#total
  }

  /** Takes up what an earlier process left, and from now on whatever is announced. */
  async start(): Promise<void> {
    const { database } = this.#options
    database.onWork(deliveryWork, (endpointIds) => {
      for (const id of endpointIds) this.#look(this.#lane(id))
    })
    database.onWork(resumedWork, (endpointIds) => {
      for (const id of endpointIds) this.#resume(this.#lane(id))
    })
    database.onWork(leftoverWork, () => this.#removeLeftovers())
    this.#removeLeftovers()
    for (const endpointId of await this.#endpointsWithRows()) this.#look(this.#lane(endpointId))
  }

  /** Begins no more; resolves when those under way have ended, which are broken off after the deadline. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true
    this.#alarm?.timer.cancel()
    const deadline = this.#options.clock.after(deadlineMs, () => this.#abort.abort())
    await Promise.all(this.#underWay)
    deadline.cancel()
  }

  /** Resolves when nothing is being read, sent or removed; what is due later waits. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  /** Every endpoint that has anything due now or later, by one seek each. */
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

  #lane(endpointId: string): Lane {
    let lane = this.#lanes.get(endpointId)
    if (!lane) this.#lanes.set(endpointId, (lane = new Lane(endpointId)))
    return lane
  }

  /** The store has something for the lane, or its time has come. */
  #look(lane: Lane): void {
    lane.hasUnread = true
    lane.nextDueMs = Infinity // until it is read
    this.#settle(lane)
    this.#pump()
  }

  #resume(lane: Lane): void {
    lane.isPaused = false
    lane.resumed++
    this.#look(lane)
  }

  /** Puts the lane where it belongs now. What is due for an endpoint that is paused is not looked at: that would be again and again. */
  #settle(lane: Lane): void {
    if (lane.isPaused) return
    if (lane.ready.length > 0) this.#turns.add(lane)
    else if (lane.hasUnread && !lane.isReading) this.#later(this.#read(lane), lane.endpointId)
    else if (lane.isIdle) this.#lanes.delete(lane.endpointId)
    this.#setAlarm(lane.nextDueMs)
  }

  async #read(lane: Lane): Promise<void> {
    if (this.#stopping) return
    lane.isReading = true
    lane.hasUnread = false
    lane.nextDueMs = Infinity
    try {
      const limit = readMax + lane.underWay.size
      const rows: DueRow[] = []
      for await (const row of this.#options.database.kv.range({ ...within(dueKey(lane.endpointId)), limit })) rows.push(toDueRow(row))
      lane.load(rows, rows.length < limit, this.#options.clock.now())
    } catch (error) {
      this.#options.onError(error, lane.endpointId)
      lane.nextDueMs = this.#options.clock.now() + defectPauseMs
    }
    lane.isReading = false
    this.#settle(lane)
    this.#pump()
  }

  /** Begins as many as there is room for. */
  #pump(): void {
    for (const lane of this.#turns) {
      if (this.#stopping || this.#total >= this.#activeMax) return
      this.#turns.delete(lane)
      const row = this.#mayGo(lane) ? lane.ready.shift() : undefined
      if (!row) continue
      lane.underWay.add(row.id)
      this.#count(lane.organizationId, 1)
      this.#later(this.#attempt(lane, row), row.id)
      if (lane.ready.length > 0) this.#turns.add(lane) // behind the others
    }
  }

  /** A lane that may not go now comes back when what keeps it has changed. */
  #mayGo(lane: Lane): boolean {
    const { clock } = this.#options
    const restMs = lane.restsUntilMs - clock.monotonic()
    if (lane.isPaused || !lane.hasRoom) return false
    if (restMs > 0) {
      if (!lane.isResting) clock.after(restMs, () => this.#wake(lane))
      lane.isResting = true
      return false
    }
    if ((this.#active.get(lane.organizationId) ?? 0) < this.#activeOfOneMax) return true
    const waiting = this.#waiting.get(lane.organizationId) ?? new Set()
    this.#waiting.set(lane.organizationId, waiting.add(lane))
    return false
  }

  #wake(lane: Lane): void {
    lane.isResting = false
    this.#enter([lane])
    this.#pump()
  }

  #enter(lanes: Iterable<Lane>): void {
    for (const lane of lanes) if (lane.ready.length > 0) this.#turns.add(lane)
  }

  async #attempt(lane: Lane, row: DueRow): Promise<void> {
    const { attempts, clock, onError } = this.#options
    const { resumed } = lane
    try {
      const result = await attempts.run(row, this.#abort.signal)
      if (result === 'paused') {
        lane.isPaused = lane.resumed === resumed
        lane.forget() // so that what was passed over comes first
      } else if (result?.isGood) lane.succeeded()
      else if (result) lane.failed(clock.monotonic(), result.milliseconds)
    } catch (error) {
      onError(error, row.id)
      lane.restsUntilMs = clock.monotonic() + defectPauseMs
    }
    lane.underWay.delete(row.id)
    lane.hasUnread = true // it may be due again already
    this.#count(lane.organizationId, -1)
    const waiting = this.#waiting.get(lane.organizationId) ?? []
    this.#waiting.delete(lane.organizationId)
    this.#enter(waiting)
    this.#settle(lane) // behind those that have waited
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
    const timer = clock.after(Math.min(alarmMsMax, atMs - clock.now()), () => this.#ring())
    this.#alarm = { atMs, timer }
  }

  #ring(): void {
    this.#alarm = undefined
    const now = this.#options.clock.now()
    for (const lane of [...this.#lanes.values()]) {
      if (lane.nextDueMs <= now) this.#look(lane)
      else this.#setAlarm(lane.nextDueMs)
    }
  }

  #removeLeftovers(): void {
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
      await removeLeftovers({ database: this.#options.database, stopping: () => this.#stopping })
    }
  }

  #later(work: Promise<void>, id: string): void {
    const done = work.catch((error: unknown) => this.#options.onError(error, id)).finally(() => this.#underWay.delete(done))
    this.#underWay.add(done)
  }
}
