/** Serializes work by name: each call begins after the previous call with this name has ended. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>()

  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(name) ?? Promise.resolve()).then(work)
    const settled = turn.catch(() => undefined)
    this.#last.set(name, settled)
    void settled.then(() => this.#last.get(name) === settled && this.#last.delete(name))
    return turn
  }
}
