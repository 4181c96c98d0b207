/** A store that tells the meter which work continues after each result. */
import type { Bytes, Entry, Kv, Range, Write, WriteResult } from '#store/kv.ts'
import type { Meter } from './thread-meter.ts'

export class MeteredKv implements Kv {
  readonly #kv: Kv
  readonly #meter: Pick<Meter, 'resume'>

  constructor(kv: Kv, meter: Pick<Meter, 'resume'>) {
    this.#kv = kv
    this.#meter = meter
  }

  get(key: Bytes): Promise<Entry | undefined> {
    return this.#after(this.#kv.get(key))
  }

  getMany(keys: readonly Bytes[]): Promise<(Entry | undefined)[]> {
    return this.#after(this.#kv.getMany(keys))
  }

  range(range: Range): AsyncIterable<Entry> {
    return { [Symbol.asyncIterator]: () => this.#entries(this.#kv.range(range)[Symbol.asyncIterator]()) }
  }

  counter(key: Bytes): Promise<number> {
    return this.#after(this.#kv.counter(key))
  }

  counters(keys: readonly Bytes[]): Promise<number[]> {
    return this.#after(this.#kv.counters(keys))
  }

  write(write: Write): Promise<WriteResult> {
    return this.#after(this.#kv.write(write))
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#kv[Symbol.asyncDispose]()
  }

  async #after<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } finally {
      this.#meter.resume()
    }
  }

  #entries(entries: AsyncIterator<Entry>): AsyncIterator<Entry> {
    return {
      next: () => this.#after(entries.next()),
      return: async () => (await entries.return?.()) ?? { done: true, value: undefined },
    }
  }
}
