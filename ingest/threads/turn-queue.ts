/** What waits, by name: names take turns, and each of them has what it added first. */
export class TurnQueue<T> {
  /** In the order of turns. */
  readonly #waiting = new Map<string, T[]>()

  has(name: string): boolean {
    return this.#waiting.has(name)
  }

  add(name: string, item: T): void {
    const own = this.#waiting.get(name)
    if (own) own.push(item)
    else this.#waiting.set(name, [item])
  }

  /** Before all else of the name, whose turn stays. */
  addFirst(name: string, item: T): void {
    const own = this.#waiting.get(name)
    if (own) own.unshift(item)
    else this.#waiting.set(name, [item])
  }

  /** The first of the name whose turn it is; the name is the last then. */
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
