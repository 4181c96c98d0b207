/** Runs work after the response, so that the response time does not depend on that work. */

export class Background {
  readonly #onError: (error: unknown) => void
  readonly #running = new Set<Promise<void>>()

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  run(work: () => Promise<void>): void {
    const running = work()
      .catch(this.#onError)
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Resolves when no work is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
