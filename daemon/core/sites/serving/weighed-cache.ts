/** What was used lately, up to a weight of all together: whose turn to go comes has another one when it was used since the last. */
interface Entry<V> {
  readonly value: V
  readonly weight: number
  /** It came, or was used, since its last turn. */
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

  /** One that weighs more than an eighth of all is not kept, nor is what it takes the place of. */
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
