/**
 * Memory that a start or a load left behind goes back to the system when the daemon has nothing to do: V8 by itself keeps the pages
 * until it needs them for something else.
 */
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { systemClock, type Clock, type Timer } from '#core/clock.ts'
import type { Part } from './lifecycle.ts'

const lookEveryMs = 5_000
/** At most this share of a processor in the time between two looks counts as nothing to do. */
const quietShare = 0.01
const worthBytes = 16 * 1024 ** 2
/** After work that let memory go without taking more, such as a queue that was delivered: looked for so rarely, and only above so much. */
const againMs = 600_000
const muchBytes = 80 * 1024 ** 2
/** Above it the collection would hold the event loop for much longer than a tenth of a second. */
const maxHeapBytes = 96 * 1024 ** 2

/** The process as this part needs it; tests put their own in its place. */
export interface OwnMemory {
  /** Milliseconds of processor time since the start. */
  processorMs(): number
  /** Without the pages of tables that LevelDB maps, which the kernel takes back by itself, where the system says so. */
  ownBytes(): number
  heapBytes(): number
  /** Collects everything that can be collected, and gives empty pages back. Holds the event loop meanwhile. */
  collect(): void
}

type Collect = (options: { readonly type: 'major'; readonly execution: 'sync'; readonly flavor: 'last-resort' }) => void

/** The figures of this process. */
export const ownMemory: OwnMemory = {
  processorMs() {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  },
  ownBytes() {
    try {
      const [, kibibytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? []
      if (kibibytes !== undefined) return Number(kibibytes) * 1024
    } catch {
      // no Linux
    }
    return process.memoryUsage.rss()
  },
  heapBytes: () => process.memoryUsage().heapUsed,
  collect() {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as Collect
    setFlagsFromString('--no-expose-gc') // compiled code counts for the flags alone that it was compiled under
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  },
}

export class QuietMemory implements Part {
  readonly name = 'memory of quiet times'
  readonly #clock: Clock
  readonly #memory: OwnMemory
  #timer: Timer | undefined
  #seenMs = 0
  /** What the process had right after the last collection. */
  #floor = 0
  #collectedMs = 0
  #hasWorked = false

  constructor(clock: Clock = systemClock, memory: OwnMemory = ownMemory) {
    this.#clock = clock
    this.#memory = memory
  }

  start(): Promise<void> {
    this.#seenMs = this.#memory.processorMs()
    this.#lookLater()
    return Promise.resolve()
  }

  stop(): Promise<void> {
    this.#timer?.cancel()
    return Promise.resolve()
  }

  #lookLater(): void {
    this.#timer = this.#clock.after(lookEveryMs, () => {
      this.#look()
      this.#lookLater()
    })
  }

  #look(): void {
    const memory = this.#memory
    const before = this.#seenMs
    this.#seenMs = memory.processorMs()
    if (this.#seenMs - before > lookEveryMs * quietShare) {
      this.#hasWorked = true
      return
    }
    if (!this.#isWorthwhile() || memory.heapBytes() > maxHeapBytes) return
    memory.collect()
    this.#floor = memory.ownBytes()
    this.#collectedMs = this.#clock.monotonic()
    this.#hasWorked = false
    this.#seenMs = memory.processorMs()
  }

  #isWorthwhile(): boolean {
    const own = this.#memory.ownBytes()
    if (own >= this.#floor + worthBytes) return true
    return this.#hasWorked && own >= muchBytes && this.#clock.monotonic() >= this.#collectedMs + againMs
  }
}
