/** Returns memory of a start or of past load to the system while the daemon is idle. V8 otherwise keeps the pages until it needs them. */
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { systemClock, type Clock, type Timer } from '#core/clock.ts'
import type { Part } from './lifecycle.ts'

const lookEveryMs = 5_000
/** The process is idle if it uses at most this share of a processor between two checks. */
const quietShare = 0.01
const worthBytes = 16 * 1024 ** 2
/**
 * Also collects after work that freed memory without allocating, such as a delivered queue: at most this often, and only above `muchBytes`.
 */
const againMs = 600_000
const muchBytes = 80 * 1024 ** 2
/** Above this size, a collection would block the event loop for much longer than a tenth of a second. */
const maxHeapBytes = 96 * 1024 ** 2

/** Interface of the process for this part. Tests replace it. */
export interface OwnMemory {
  /** Milliseconds of processor time since the start. */
  processorMs(): number
  /** Memory without the mapped tables of LevelDB, which the kernel reclaims itself, if the system reports it. */
  ownBytes(): number
  heapBytes(): number
  /** Collects all garbage and returns empty pages. Blocks the event loop. */
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
      // not Linux
    }
    return process.memoryUsage.rss()
  },
  heapBytes: () => process.memoryUsage().heapUsed,
  collect() {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as Collect
    setFlagsFromString('--no-expose-gc') // compiled code is only valid for its flags
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  },
}

export class QuietMemory implements Part {
  readonly name = 'memory of quiet times'
  readonly #clock: Clock
  readonly #memory: OwnMemory
  #timer: Timer | undefined
  #seenMs = 0
  /** Memory right after the last collection. */
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
