/** A store that a test can take away from those who use it, as the end of a process does: nothing they began ever returns. */
import type { Activity } from '#core/activity.ts'
import type { Bytes, Entry, Kv, Range, Write, WriteResult } from '#store/kv.ts'

const never = new Promise<never>(() => {})

export class CuttableKv implements Kv {
  readonly #kv: Kv
  readonly #activity: Activity | undefined
  #isCut = false
  readonly #inFlight = new Set<Promise<WriteResult>>()
  /** Looks at every write before it happens; a promise holds it up. */
  beforeWrite: ((write: Write) => void | Promise<void>) | undefined
  /** Is notified of every look for keys, or with the first key of a range. */
  onLook: ((keys: readonly Bytes[]) => void) | undefined
  /** Reads and writes under way. */
  busy = 0

  constructor(kv: Kv, activity?: Activity) {
    this.#kv = kv
    this.#activity = activity
  }

  /** Resolves when what had reached the store by then is written or not. */
  async cut(): Promise<void> {
    this.#isCut = true
    await Promise.allSettled(this.#inFlight)
  }

  get(key: Bytes): Promise<Entry | undefined> {
    this.onLook?.([key])
    return this.#guard(() => this.#kv.get(key))
  }

  getMany(keys: readonly Bytes[]): Promise<(Entry | undefined)[]> {
    this.onLook?.(keys)
    return this.#guard(() => this.#kv.getMany(keys))
  }

  async *range(range: Range): AsyncIterable<Entry> {
    this.onLook?.([range.start])
    const end = this.#begin()
    try {
      if (this.#isCut) await never
      for await (const entry of this.#kv.range(range)) yield this.#isCut ? await never : entry
      if (this.#isCut) await never
    } catch (error) {
      if (this.#isCut) await never
      throw error
    } finally {
      end()
    }
  }

  counter(key: Bytes): Promise<number> {
    this.onLook?.([key])
    return this.#guard(() => this.#kv.counter(key))
  }

  counters(keys: readonly Bytes[]): Promise<number[]> {
    this.onLook?.(keys)
    return this.#guard(() => this.#kv.counters(keys))
  }

  write(write: Write): Promise<WriteResult> {
    return this.#guard(async () => {
      const held = this.beforeWrite?.(write)
      if (held) await held
      if (this.#isCut) return never
      const written = this.#kv.write(write)
      this.#inFlight.add(written)
      return written.finally(() => this.#inFlight.delete(written))
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#kv[Symbol.asyncDispose]())
  }

  #begin(): () => void {
    const end = this.#activity?.begin('call of the store')
    this.busy++
    return () => {
      this.busy--
      end?.()
    }
  }

  /** What comes back after the cut is lost. */
  async #guard<T>(work: () => Promise<T>): Promise<T> {
    const end = this.#begin()
    try {
      const value = this.#isCut ? await never : await work()
      return this.#isCut ? await never : value
    } catch (error) {
      if (this.#isCut) await never
      throw error
    } finally {
      end()
    }
  }
}
