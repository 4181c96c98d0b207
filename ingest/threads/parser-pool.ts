/**
 * Two parsing threads with a quick and a slow lane; organizations take turns in each lane. A message that exceeds `quickMs` moves to the
 * slow lane, together with all other messages of its organization. The slow lane parses one message at a time, so quick messages never wait
 * for slow ones.
 */
import type { Clock } from '#core/clock.ts'
import { ParserThread, shuttingDown, type ParserAnswer, type ParserRequest, type ParserThreadLimits } from './parser-thread.ts'
import { TurnQueue } from './turn-queue.ts'

export interface ParserPoolLimits extends ParserThreadLimits {
  /** Processor time in milliseconds that a message may use in the quick lane. Unlimited by default. */
  readonly quickMs?: number
  /** Total time limit for an empty message in milliseconds; each MiB adds a second, up to `deadlineMs`. Default: `deadlineMs`. */
  readonly smallestMs?: number
}

export const usualLimits = { quickMs: 250, smallestMs: 4000, deadlineMs: 10_000, idleMs: 30_000 } as const

export interface Turn {
  /** Key of the round robin: the organization, or the sender if the organization is not known yet. */
  readonly turn: string
  /** Size of the message. */
  readonly octets: number
}

export type Ask = (request: ParserRequest) => Promise<ParserAnswer>

interface Job extends Turn {
  /** Runs the work and settles the caller's promise. May run a second time from the start after an interrupted run. */
  readonly run: (ask: Ask, isBrokenOff: () => boolean) => Promise<void>
  readonly close: () => void
}

/** A job that runs on a thread. */
interface Shift {
  readonly job: Job
  readonly thread: ParserThread
  isBrokenOff: boolean
}

const mebibyte = 1024 * 1024
/** Extra quick-lane time for a thread that must start first. */
const startMs = 750

export class ParserPool implements AsyncDisposable {
  readonly #limits: ParserPoolLimits
  readonly #threads: readonly [ParserThread, ParserThread]
  readonly #quick = new TurnQueue<Job>()
  readonly #slow = new TurnQueue<Job>()
  #quickShift: Shift | undefined
  #slowShift: Shift | undefined
  readonly #inFlight = new Set<Promise<void>>()
  #closed = false

  constructor(entry: URL, clock: Clock, limits: ParserPoolLimits) {
    this.#limits = limits
    this.#threads = [new ParserThread(entry, clock, limits), new ParserThread(entry, clock, limits)]
  }

  /** True while at least one thread exists. */
  get running(): boolean {
    return this.#threads.some(({ running }) => running)
  }

  /** Starts a thread and keeps it alive when idle. The returned function releases it; call it once. */
  keep(): () => void {
    return this.#threads[0].keep()
  }

  /** Queues one request. The request is built only when its turn comes, so a queued request holds no copy of the message. */
  ask(place: Turn, request: () => ParserRequest | Promise<ParserRequest>): Promise<ParserAnswer> {
    return this.inTurn(place, async (ask) => ask(await request()), shuttingDown)
  }

  /**
   * Runs `work` when its turn comes; no other job of the same lane runs at the same time. If `work` exceeds the quick limit while the slow
   * lane is busy, it restarts later in the slow lane. Resolves with `closed` if the pool is disposed of. Rejects with the error of `work`.
   */
  inTurn<T>({ turn, octets }: Turn, work: (ask: Ask) => Promise<T>, closed: T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    if (this.#closed) return Promise.resolve(closed)
    const run: Job['run'] = async (ask, isBrokenOff) => {
      try {
        const result = await work(ask)
        if (!isBrokenOff()) resolve(result)
      } catch (error) {
        if (!isBrokenOff()) reject(error)
      }
    }
    const job: Job = { turn, octets, run, close: () => resolve(closed) }
    if (this.#isSlow(turn)) this.#slow.add(turn, job)
    else this.#quick.add(turn, job)
    this.#next()
    return promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    for (const job of [...this.#quick.clear(), ...this.#slow.clear()]) job.close()
    await Promise.all(this.#threads.map((thread) => thread[Symbol.asyncDispose]()))
    await Promise.all(this.#inFlight)
  }

  #isSlow(turn: string): boolean {
    return this.#slow.has(turn) || this.#slowShift?.job.turn === turn
  }

  #next(): void {
    if (this.#closed) return
    if (!this.#quickShift) {
      const job = this.#quick.take()
      if (job) this.#begin(job, true)
    }
    if (!this.#slowShift) {
      const job = this.#slow.take()
      if (job) this.#begin(job, false)
    }
  }

  #begin(job: Job, isQuick: boolean): void {
    const shift: Shift = { job, thread: this.#freeThread(), isBrokenOff: false }
    if (isQuick) this.#quickShift = shift
    else this.#slowShift = shift
    const { quickMs, deadlineMs, smallestMs = deadlineMs } = this.#limits
    const allowed = quickMs === undefined ? undefined : quickMs + (shift.thread.running ? 0 : startMs)
    const timer = isQuick && allowed !== undefined ? shift.thread.afterProcessorTime(allowed, () => this.#leaveQuickLane(shift)) : undefined
    const withinMs = Math.min(deadlineMs, smallestMs + (job.octets / mebibyte) * 1000)
    const ask: Ask = (request) => (shift.isBrokenOff ? Promise.resolve(shuttingDown) : shift.thread.ask(request, withinMs))
    const work = job
      .run(ask, () => shift.isBrokenOff)
      .then(() => {
        timer?.cancel()
        this.#inFlight.delete(work)
        this.#end(shift)
      })
    this.#inFlight.add(work)
  }

  /** Prefers a running thread. The other lane occupies at most one of the two threads. */
  #freeThread(): ParserThread {
    const [first, second] = this.#threads
    const taken = this.#quickShift?.thread ?? this.#slowShift?.thread
    if (taken) return taken === first ? second : first
    return second.running && !first.running ? second : first
  }

  /** Moves a job to the slow lane. It continues on its thread if the slow lane is empty; otherwise it is interrupted and queued there. */
  #leaveQuickLane(shift: Shift): void {
    if (this.#closed || this.#quickShift !== shift) return
    const { turn } = shift.job
    for (const job of this.#quick.takeAll(turn)) this.#slow.add(turn, job)
    if (this.#slowShift) {
      shift.isBrokenOff = true
      shift.thread.breakOff()
      this.#slow.addFirst(turn, shift.job)
    } else {
      this.#slowShift = shift
      this.#quickShift = undefined
    }
    this.#next()
  }

  #end(shift: Shift): void {
    if (this.#quickShift === shift) this.#quickShift = undefined
    if (this.#slowShift === shift) this.#slowShift = undefined
    if (this.#closed && shift.isBrokenOff) shift.job.close()
    this.#next()
  }
}
