/**
 * The latest committed values in memory: a message is read again within milliseconds of its acceptance, and a look-up
 * here costs a tenth of one in LevelDB. The oldest go first; what is not here is in LevelDB.
 */
import type { Bytes } from '../kv.ts'

export class RecentValues {
  readonly #values = new Map<string, Bytes>()
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get(name: string): Bytes | undefined {
    return this.#values.get(name)
  }

  /** After the value became durable. */
  put(name: string, stored: Bytes): void {
    this.delete(name)
    this.#values.set(name, stored)
    this.#bytes += cost(name, stored)
    while (this.#bytes > this.#bytesMax) this.delete(this.#values.keys().next().value ?? '')
  }

  delete(name: string): void {
    const stored = this.#values.get(name)
    if (!stored) return
    this.#values.delete(name)
    this.#bytes -= cost(name, stored)
  }
}

/** Map entry, string and buffer weigh more than their content. */
const cost = (name: string, stored: Bytes): number => name.length + stored.length + 250
