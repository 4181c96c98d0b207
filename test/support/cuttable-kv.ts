/** A store that a test can cut off like the end of a process: no pending call ever returns. */
import type { Activity } from '#core/activity.ts'
import { waiting } from './waits.ts'
import type { Bytes, Entry, Kv, Range, Write, WriteResult } from '#store/kv.ts'

const never = new Promise<never>(() => {})

export class CuttableKv implements Kv {
  readonly #kv: Kv
  readonly #activity: Activity | undefined
  #isCut = false
  readonly #inFlight = new Set<Promise<WriteResult>>()
  /** Called before every write. A returned promise delays the write. */
  beforeWrite: ((write: Write) => void | Promise<void>) | undefined
  /** Called for every read with its keys, or with the first key of a range. */
  onLook: ((keys: readonly Bytes[]) => void) | undefined
  readonly #ends = new Set<() => void>()
  #written = Promise.withResolvers<void>()
  /** Number of reads and writes in progress. */
  busy = 0

  constructor(kv: Kv, activity?: Activity) {
    this.#kv = kv
    this.#activity = activity
  }

  /** Cuts the store off. Resolves when each write that had reached it is complete or has failed. */
  async cut(): Promise<void> {
    this.#isCut = true
    for (const end of this.#ends) end()
    await Promise.allSettled(this.#inFlight)
  }

  /** Resolves when the condition holds; checks it after each write. For work that a peer delays, which does not settle. */
  holds(what: string, condition: () => Promise<boolean>): Promise<void> {
    return waiting(what, this.#holds(condition))
  }

  async #holds(condition: () => Promise<boolean>): Promise<void> {
    for (;;) {
      const written = this.#written.promise
      if (await condition()) return
      await written
    }
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
    let end = this.#begin()
    try {
      if (this.#isCut) await never
      for await (const entry of this.#kv.range(range)) {
        const read = this.#isCut ? await never : entry
        end() // A pause of the reader is not in progress.
        yield read
        end = this.#begin()
      }
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

  /** A write that `beforeWrite` holds is not in progress. */
  async write(write: Write): Promise<WriteResult> {
    const held = this.beforeWrite?.(write)
    if (held) await held
    return this.#guard(() => {
      if (this.#isCut) return never
      const written = this.#kv.write(write)
      this.#inFlight.add(written)
      return written.finally(() => {
        this.#inFlight.delete(written)
        this.#written.resolve()
        this.#written = Promise.withResolvers()
      })
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#kv[Symbol.asyncDispose]())
  }

  #begin(): () => void {
    if (this.#isCut) return () => {}
    this.busy++
    const ended = this.#activity?.begin('call of the store')
    const end = (): void => {
      if (!this.#ends.delete(end)) return
      this.busy--
      ended?.()
    }
    this.#ends.add(end)
    return end
  }

  /** Returns the result of the work, or never returns after the cut. */
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
