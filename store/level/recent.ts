/**
 * Latest committed values in memory. Delivery reads a message within milliseconds of its acceptance, and a look-up here costs a tenth of
 * one in LevelDB. Two generations make forgetting free: the older one is dropped whole. All values are also in LevelDB.
 */
import type { Bytes } from '../kv.ts'

export class RecentValues {
  readonly #maxGenerationBytes: number
  #young = new Map<string, Bytes>()
  #old = new Map<string, Bytes>()
  #youngBytes = 0

  /** Holds between half of `maxBytes` and all of it. */
  constructor(maxBytes: number) {
    this.#maxGenerationBytes = maxBytes / 2
  }

  get(name: string): Bytes | undefined {
    return this.#young.get(name) ?? this.#old.get(name)
  }

  /** Call it after the value became durable. */
  put(name: string, stored: Bytes): void {
    this.#young.set(name, stored)
    this.#youngBytes += name.length + stored.length + overheadBytes
    if (this.#youngBytes < this.#maxGenerationBytes) return
    this.#old = this.#young
    this.#young = new Map()
    this.#youngBytes = 0
  }

  delete(name: string): void {
    this.#young.delete(name)
    this.#old.delete(name)
  }
}

/** Memory of a map entry, its string and its buffer, without their content. */
const overheadBytes = 250
