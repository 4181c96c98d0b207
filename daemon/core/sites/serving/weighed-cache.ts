/** Cache with a limit on the total weight. Evicts the oldest entry, but gives it a second chance if it was used since its last turn. */
interface Entry<V> {
  readonly value: V
  readonly weight: number
  /** The entry was added or used since its last turn. */
  isUsed: boolean
}

export class WeighedCache<V> {
  readonly #entries = new Map<string, Entry<V>>()
  readonly #max: number
  #weight = 0

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    entry.isUsed = true
    return entry.value
  }

  /** An entry heavier than an eighth of the limit is not cached, and removes the previous entry of its key. */
  set(key: string, value: V, weight: number): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
    if (weight > this.#max / 8) return
    this.#weight += weight
    this.#entries.set(key, { value, weight, isUsed: true })
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#max) return
      this.#entries.delete(oldest)
      if (entry.isUsed) this.#entries.set(oldest, { ...entry, isUsed: false })
      else this.#weight -= entry.weight
    }
  }
}
