/** What was used last, up to a weight of all together. */
export class WeighedCache<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly weight: number }>()
  readonly #max: number
  #weight = 0

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** One that weighs more than an eighth of all is not kept, nor is what it takes the place of. */
  set(key: string, value: V, weight: number): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
    if (weight > this.#max / 8) return
    this.#weight += weight
    this.#entries.set(key, { value, weight })
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#max) return
      this.#entries.delete(oldest)
      this.#weight -= entry.weight
    }
  }
}
