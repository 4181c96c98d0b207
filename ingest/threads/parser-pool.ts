/**
 * Two parsing threads with turns by organization. A message that is read quickly never waits for one that is not: what takes longer
 * than a moment goes on in the slow lane, one message at a time, and so does all else of its organization until that is done.
 */
import type { Clock } from '#core/clock.ts'
import { ParserThread, shuttingDown, type ParserAnswer, type ParserRequest, type ParserThreadLimits } from './parser-thread.ts'
import { TurnQueue } from './turn-queue.ts'

export interface ParserPoolLimits extends ParserThreadLimits {
  /** What a message may take of processor before it goes on in the slow lane, in milliseconds; without it, any time. */
  readonly quickMs?: number
  /** What the smallest message may take in all; each MiB adds a second, up to `deadlineMs`. Without it, `deadlineMs`. */
  readonly smallestMs?: number
}

export const usualLimits = { quickMs: 250, smallestMs: 4000, deadlineMs: 10_000, idleMs: 30_000 } as const

export interface Turn {
  /** Whose turn a message takes: an organization, or a sender where it is not known yet whom the message is about. */
  readonly turn: string
  /** Of the message. */
  readonly octets: number
}

export type Ask = (request: ParserRequest) => Promise<ParserAnswer>

interface Job extends Turn {
  /** Settles its caller; may be run again from the start when the first run was broken off. */
  readonly run: (ask: Ask, isBrokenOff: () => boolean) => Promise<void>
  readonly close: () => void
}

/** A job at work on a thread. */
interface Shift {
  readonly job: Job
  readonly thread: ParserThread
  isBrokenOff: boolean
}

const mebibyte = 1024 * 1024
/** A thread that must start first needs so much longer. */
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

  /** Whether a thread exists at the moment. */
  get running(): boolean {
    return this.#threads.some(({ running }) => running)
  }

  /** Starts a thread, and ends it for no idleness until the returned function is called, once. */
  keep(): () => void {
    return this.#threads[0].keep()
  }

  /** Asks one thing in turn. The request is made then, so that what waits costs no more than its caller holds. */
  ask(place: Turn, request: () => ParserRequest | Promise<ParserRequest>): Promise<ParserAnswer> {
    return this.inTurn(place, async (ask) => ask(await request()), shuttingDown)
  }

  /**
   * Does `work` when its turn has come, so that it alone asks. It is done once more from its beginning when it took too long for the
   * quick lane; once this is disposed of, the answer is `closed`. Rejects with what `work` throws.
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

  /** One that runs already, if there is one; the other lane has at most one of the two. */
  #freeThread(): ParserThread {
    const [first, second] = this.#threads
    const taken = this.#quickShift?.thread ?? this.#slowShift?.thread
    if (taken) return taken === first ? second : first
    return second.running && !first.running ? second : first
  }

  /** Goes on where it is when the slow lane is empty; otherwise it is broken off and waits for its turn there. */
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
