/** Counts open things by name: connections of a client, streams and waits of a caller. */
export class OpenCounts {
  readonly #counts = new Map<string, number>()
  #size = 0

  /** Total count. */
  get size(): number {
    return this.#size
  }

  /** Counts one more and returns a function that releases it; undefined if the name has `max` already. */
  enter(name: string, max: number): (() => void) | undefined {
    const before = this.#counts.get(name) ?? 0
    if (before >= max) return undefined
    this.#counts.set(name, before + 1)
    this.#size++
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#size--
      const left = (this.#counts.get(name) ?? 1) - 1
      if (left > 0) this.#counts.set(name, left)
      else this.#counts.delete(name)
    }
  }
}
