/** A map that keeps the entries that were set last. */

/** Holds at most `max` entries: when one more is set, the one that was set longest ago goes. */
export class RecentMap<K, V> extends Map<K, V> {
  readonly #max: number

  constructor(max: number) {
    super()
    this.#max = max
  }

  override set(key: K, value: V): this {
    this.delete(key)
    super.set(key, value)
    const oldest = this.keys().next()
    if (this.size > this.#max && !oldest.done) this.delete(oldest.value)
    return this
  }
}
