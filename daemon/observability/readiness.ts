/** Whether the daemon can do its work, for `/readyz`: from the moment all listeners accept until it begins to stop. */
export class Readiness {
  #reasons: readonly string[] = ['starting']
  readonly #needed: (() => string | undefined)[] = []
  readonly #watched: (() => string | undefined)[] = []

  /** Everything listens. */
  started(): void {
    this.#reasons = []
  }

  /** The stop has begun. */
  stopping(): void {
    this.#reasons = ['stopping']
  }

  /** Why it cannot; empty when it can. */
  ready(): readonly string[] {
    return [...this.#reasons, ...this.#needed.map((need) => need()).filter((reason) => reason !== undefined)]
  }

  /** Asks `need` whenever somebody asks; it says why no work can be done now, or undefined. */
  require(need: () => string | undefined): void {
    this.#needed.push(need)
  }

  /** Asks `warning` whenever somebody asks; undefined when nothing is wrong there. */
  watch(warning: () => string | undefined): void {
    this.#watched.push(warning)
  }

  /** What needs a person soon, while the work goes on. */
  warnings(): readonly string[] {
    return this.#watched.map((warning) => warning()).filter((warning) => warning !== undefined)
  }
}
