/**
 * Measures main-thread time by caller. Work runs until it waits for the store, a body or a thread, and is marked as current when it
 * continues. Time is charged to it until other work continues or the turn of the event loop ends.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** Work that main-thread time is charged to. */
export interface Charged {
  /** Name of the caller. */
  readonly caller: string
  spend(ms: number): void
}

export interface Meter extends Disposable {
  /** Runs `work`, and charges it and its asynchronous consequences. */
  run<T>(charged: Charged, work: () => T): T
  /** Marks the calling work as current after a wait. */
  resume(): void
  /** Charges the current work for its time until now. */
  settle(): void
}

/** Measures nothing: for tests, whose clocks do not move. */
export const noMeter: Meter = { run: (_charged, work) => work(), resume() {}, settle() {}, [Symbol.dispose]() {} }

/** Meters of the process: one for each daemon. */
const meters = new Set<ThreadMeter>()

/** Name of the current work's caller; empty for work of the service. */
export function currentCaller(): string {
  for (const { work } of meters) if (work) return work.caller
  return ''
}

/** Marks the calling work as current after a wait for its turn. */
export function resumeWork(): void {
  for (const meter of meters) meter.resume()
}

/** Measurement interval of the processor share: processor time relative to busy time. */
const shareMs = 50

/**
 * Returns the processor share of the thread. On a busy machine, the time waiting for a processor is charged to no caller, because light
 * callers would look heavy. Measuring processor time at each change of work would cost 2 % of a send.
 */
export function processorShare(): (now: number) => number {
  let [share, at, active, cpu] = [1, 0, 0, 0]
  return (now) => {
    if (now - at < shareMs) return share
    const { user, system } = process.threadCpuUsage()
    const used = (user + system) / 1000
    const busy = performance.eventLoopUtilization().active
    if (busy > active) share = Math.min(1, (used - cpu) / (busy - active))
    ;[at, active, cpu] = [now, busy, used]
    return share
  }
}

export class ThreadMeter implements Meter {
  readonly #works = new AsyncLocalStorage<Charged>()
  readonly #now: () => number
  readonly #share: (now: number) => number
  readonly #endTurn = (): void => {
    this.#endsTurn = false
    this.#switch(undefined)
  }
  #work: Charged | undefined
  #since = 0
  #endsTurn = false

  constructor(now: () => number = () => performance.now(), share: (now: number) => number = () => 1) {
    this.#now = now
    this.#share = share
    meters.add(this)
  }

  /** The current work. */
  get work(): Charged | undefined {
    return this.#works.getStore()
  }

  run<T>(charged: Charged, work: () => T): T {
    this.#switch(charged)
    return this.#works.run(charged, work)
  }

  resume(): void {
    this.#switch(this.#works.getStore())
  }

  settle(): void {
    const now = this.#now()
    this.#work?.spend((now - this.#since) * this.#share(now))
    this.#since = now
  }

  [Symbol.dispose](): void {
    meters.delete(this)
    this.#switch(undefined)
  }

  #switch(work: Charged | undefined): void {
    if (work === this.#work) return
    const now = this.#now()
    const before = this.#work
    this.#work = work
    before?.spend((now - this.#since) * this.#share(now))
    this.#since = now
    // waiting for the next event is charged to no work
    if (work === undefined || this.#endsTurn) return
    this.#endsTurn = true
    setImmediate(this.#endTurn)
  }
}
