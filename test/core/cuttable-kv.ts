/** A store that a test can take away from those who use it, as the end of a process does: nothing they began ever returns. */
import type { Bytes, Entry, Kv, Range, Write, WriteResult } from '#store/kv.ts'

const never = new Promise<never>(() => {})

export class CuttableKv implements Kv {
  readonly #kv: Kv
  #isCut = false
  /** Looks at every write before it happens; a promise holds it up. */
  beforeWrite: ((write: Write) => void | Promise<void>) | undefined
  /** Writes under way. */
  writing = 0

  constructor(kv: Kv) {
    this.#kv = kv
  }

  cut(): void {
    this.#isCut = true
  }

  get(key: Bytes): Promise<Entry | undefined> {
    return this.#guard(this.#kv.get(key))
  }

  getMany(keys: readonly Bytes[]): Promise<(Entry | undefined)[]> {
    return this.#guard(this.#kv.getMany(keys))
  }

  async *range(range: Range): AsyncIterable<Entry> {
    for await (const entry of this.#kv.range(range)) yield this.#isCut ? await never : entry
    if (this.#isCut) await never
  }

  counter(key: Bytes): Promise<number> {
    return this.#guard(this.#kv.counter(key))
  }

  async write(write: Write): Promise<WriteResult> {
    this.writing++
    try {
      const held = this.beforeWrite?.(write)
      if (held) await held
      if (this.#isCut) return await never
      return await this.#guard(this.#kv.write(write))
    } finally {
      this.writing--
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }

  /** What comes back after the cut reaches nobody. */
  async #guard<T>(work: Promise<T>): Promise<T> {
    const value = await work
    return this.#isCut ? never : value
  }
}
