/** A queue that serves names in turn (round robin) and the items of each name in the order of arrival. */
export class TurnQueue<T> {
  /** Items by name. The order of the keys is the order of turns. */
  readonly #waiting = new Map<string, T[]>()

  has(name: string): boolean {
    return this.#waiting.has(name)
  }

  add(name: string, item: T): void {
    const own = this.#waiting.get(name)
    if (own) own.push(item)
    else this.#waiting.set(name, [item])
  }

  /** Adds an item before all other items of the name. The turn of the name does not change. */
  addFirst(name: string, item: T): void {
    const own = this.#waiting.get(name)
    if (own) own.unshift(item)
    else this.#waiting.set(name, [item])
  }

  /** Removes and returns the first item of the name whose turn it is, and moves that name to the end. */
  take(): T | undefined {
    for (const [name, own] of this.#waiting) {
      const item = own.shift()
      this.#waiting.delete(name)
      if (own.length > 0) this.#waiting.set(name, own)
      return item
    }
    return undefined
  }

  takeAll(name: string): readonly T[] {
    const own = this.#waiting.get(name) ?? []
    this.#waiting.delete(name)
    return own
  }

  clear(): readonly T[] {
    const all = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    return all
  }
}
