/**
 * Makes records visible in the order of their ids. A single process creates ids as it commits. If several processes share a store, a reader
 * waits until all of them have committed or canceled the ids before an id.
 */
import type { Daemons } from './daemons/daemons.ts'
import { OrderedIds, type RecordIds } from './ids.ts'
import type { WriteResult } from './kv.ts'

const topic = 'ordered'
/** Ids are created directly before their commit. Ids without a commit are canceled. */
const maxOpen = 10_000

export class OrderedCommits {
  readonly #daemons: Daemons
  readonly #unusedMs: number
  readonly #ids: RecordIds
  readonly #orderedIds = new Map<string, OrderedIds>()
  /** Ids that may become visible, in order. */
  readonly #open = new Map<string, 'given' | 'committing'>()
  /** Resolves when a commit starts or ends. */
  #changed: PromiseWithResolvers<void> | undefined
  /** By prefix, the largest id below which no further id can become visible at any daemon. */
  readonly #settled = new Map<string, string>()

  /** `unusedMs`: time after which an id without a commit is canceled if a reader waits for it. */
  constructor(daemons: Daemons, ids: RecordIds, unusedMs = 5000) {
    this.#daemons = daemons
    this.#ids = ids
    this.#unusedMs = unusedMs
    daemons.onAsked(topic, (ids) => Promise.all(ids.map((id) => this.#settleHere(id))))
  }

  /** Creates an id that sorts after all created and settled ids of its prefix. Its time is `nowMs`, or later if the order requires it. */
  next(prefix: string, nowMs: number): string {
    const id = this.#idsOf(prefix).next(nowMs)
    if (this.#daemons.isAlone) return id
    this.#open.set(id, 'given')
    if (this.#open.size > maxOpen) this.#callOff([...this.#open.keys()])
    return id
  }

  /** Writes the records of an id. Returns a conflict if the id was canceled. A failed write can be repeated. */
  async commit(id: string, write: () => Promise<WriteResult>): Promise<WriteResult> {
    if (this.#daemons.isAlone) return write()
    if (!this.#open.has(id)) return { ok: false, reason: 'conflict', key: Buffer.from(id) }
    this.#enter(id, 'committing')
    let isOver = true
    try {
      const result = await write()
      isOver = result.ok
      return result
    } finally {
      if (isOver) this.#leave(id)
      else this.#enter(id, 'given')
    }
  }

  /**
   * Resolves when no earlier id can become visible: with true if a record may have become visible since the read of the caller, with false
   * if all records were visible then.
   */
  async settle(id: string): Promise<boolean> {
    if (this.#daemons.isAlone || id <= (this.#settled.get(prefixOf(id)) ?? '')) return false
    await Promise.all([this.#settleHere(id), this.#daemons.askOthers(topic, [id])])
    if (id > (this.#settled.get(prefixOf(id)) ?? '')) this.#settled.set(prefixOf(id), id)
    return true
  }

  async #settleHere(upTo: string): Promise<void> {
    const prefix = prefixOf(upTo)
    this.#idsOf(prefix).pass(upTo)
    const late = pause(this.#unusedMs)
    try {
      for (;;) {
        const before = [...this.#open.keys()].filter((id) => id <= upTo && prefixOf(id) === prefix)
        if (late.isOver) this.#callOff(before)
        if (!before.some((id) => this.#open.has(id))) return
        this.#changed ??= Promise.withResolvers<void>()
        await (late.isOver ? this.#changed.promise : Promise.race([this.#changed.promise, late.over]))
      }
    } finally {
      late.cancel()
    }
  }

  #callOff(ids: readonly string[]): void {
    for (const id of ids) if (this.#open.get(id) === 'given') this.#leave(id)
  }

  #enter(id: string, state: 'given' | 'committing'): void {
    this.#open.set(id, state)
    this.#notify()
  }

  #leave(id: string): void {
    this.#open.delete(id)
    this.#notify()
  }

  #notify(): void {
    this.#changed?.resolve()
    this.#changed = undefined
  }

  #idsOf(prefix: string): OrderedIds {
    const ids = this.#orderedIds.get(prefix) ?? new OrderedIds(this.#ids, prefix)
    this.#orderedIds.set(prefix, ids)
    return ids
  }
}

const prefixOf = (id: string): string => id.slice(0, id.indexOf('_'))

/** Starts a timer that can be canceled. */
function pause(ms: number): { isOver: boolean; readonly over: Promise<void>; cancel(): void } {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(() => {
    paused.isOver = true
    resolve()
  }, ms)
  const paused = { isOver: false, over, cancel: () => clearTimeout(timer) }
  return paused
}
