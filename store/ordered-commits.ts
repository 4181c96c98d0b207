/**
 * Records that become visible in the order of their ids. One process makes its ids as it commits; where several share a store, a reader
 * has what is before an id committed, or called off, in all of them before it takes the id for the latest.
 */
import type { Daemons } from './daemons/daemons.ts'
import { OrderedIds, type RecordIds } from './ids.ts'
import type { WriteResult } from './kv.ts'

const topic = 'ordered'
/** Ids are given out right before their commit; those that fail to come to it are called off. */
const maxOpen = 10_000

export class OrderedCommits {
  readonly #daemons: Daemons
  readonly #unusedMs: number
  readonly #ids: RecordIds
  readonly #orderedIds = new Map<string, OrderedIds>()
  /** Ids that may become visible, in their order. */
  readonly #open = new Map<string, 'given' | 'committing'>()
  /** Resolves when one of them is committed, or begins to be. */
  #changed: PromiseWithResolvers<void> | undefined
  /** By prefix: up to this id, what is not visible never will be, at any daemon. */
  readonly #settled = new Map<string, string>()

  /** `unusedMs`: an id that is waited for so long while no commit begins with it is called off. */
  constructor(daemons: Daemons, ids: RecordIds, unusedMs = 5000) {
    this.#daemons = daemons
    this.#ids = ids
    this.#unusedMs = unusedMs
    daemons.onAsked(topic, (ids) => Promise.all(ids.map((id) => this.#settleHere(id))))
  }

  /** Sorts after every id of its prefix that was given out, or settled, here. Its time is `nowMs`, or later where the order needs that. */
  next(prefix: string, nowMs: number): string {
    const id = this.#idsOf(prefix).next(nowMs)
    if (this.#daemons.isAlone) return id
    this.#open.set(id, 'given')
    if (this.#open.size > maxOpen) this.#callOff([...this.#open.keys()])
    return id
  }

  /** Writes what becomes visible with the id. A conflict when the id was called off; what failed can be written again. */
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
   * Resolves when nothing before this id becomes visible any more: with true where something may have since the caller looked, with false
   * where all of it was visible then.
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

/** Time that passes, and can be called off. */
function pause(ms: number): { isOver: boolean; readonly over: Promise<void>; cancel(): void } {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(() => {
    paused.isOver = true
    resolve()
  }, ms)
  const paused = { isOver: false, over, cancel: () => clearTimeout(timer) }
  return paused
}
