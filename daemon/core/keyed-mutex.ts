/** Lets work of one name take turns: each begins when the one before it has ended, in the order of their calls. */
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
