/** Streams the daemon's decisions to live watchers. Nothing is stored, and nothing is created without watchers. */
import { performance } from 'node:perf_hooks'

/** A decision: its kind, and facts with snake_case names. */
export interface Decision {
  readonly at: string
  readonly kind: 'accepted' | 'refused' | 'attempt' | 'bounced' | 'destination' | 'missed'
  readonly [fact: string]: unknown
}

/** Maximum number of lines that wait for a slow watcher. Further lines are counted and dropped. */
const maxWaiting = 1000

interface Watcher {
  readonly waiting: Decision[]
  missed: number
  wake: (() => void) | undefined
}

export class Decisions {
  readonly #watchers = new Set<Watcher>()
  #isClosed = false

  /** Whether any watcher needs the facts of a decision. */
  get isWatched(): boolean {
    return this.#watchers.size > 0
  }

  publish(kind: Decision['kind'], facts: Readonly<Record<string, unknown>>): void {
    if (!this.isWatched) return
    const decision: Decision = { at: new Date(performance.timeOrigin + performance.now()).toISOString(), kind, ...facts }
    for (const watcher of this.#watchers) {
      if (watcher.waiting.length < maxWaiting) watcher.waiting.push(decision)
      else watcher.missed += 1
      watcher.wake?.()
    }
  }

  /** Returns a stream of all later decisions, one JSON object per line. Ends on `close` or when the reader cancels. */
  watch(): ReadableStream<Uint8Array> {
    const watcher: Watcher = { waiting: [], missed: 0, wake: undefined }
    const encoder = new TextEncoder()
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#watchers.add(watcher)
        controller.enqueue(encoder.encode('\n')) // sends the header of the answer immediately
      },
      pull: async (controller) => {
        const lines = await this.#next(watcher)
        if (lines === undefined) controller.close()
        else controller.enqueue(encoder.encode(lines))
      },
      cancel: () => {
        this.#watchers.delete(watcher)
        watcher.wake?.()
      },
    })
  }

  /** Ends all streams. */
  close(): void {
    this.#isClosed = true
    for (const { wake } of this.#watchers) wake?.()
    this.#watchers.clear()
  }

  async #next(watcher: Watcher): Promise<string | undefined> {
    while (watcher.waiting.length === 0) {
      if (this.#isClosed || !this.#watchers.has(watcher)) return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      watcher.wake = resolve
      await promise
    }
    const decisions = watcher.waiting.splice(0)
    const { missed } = watcher
    watcher.missed = 0
    const all = missed === 0 ? decisions : [...decisions, { at: decisions.at(-1)?.at, kind: 'missed', count: missed }]
    return all.map((decision) => `${JSON.stringify(decision)}\n`).join('')
  }
}
