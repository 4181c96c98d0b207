/** Readiness of the daemon for `/readyz`: from the moment all listeners accept until it starts to stop. */
export class Readiness {
  #reasons: readonly string[] = ['starting']
  readonly #needed: (() => string | undefined)[] = []
  readonly #watched: (() => string | undefined)[] = []
  #errors: () => readonly { readonly id: string; readonly summary: string }[] = () => []

  /** All listeners accept connections. */
  started(): void {
    this.#reasons = []
  }

  /** The daemon is stopping. */
  stopping(): void {
    this.#reasons = ['stopping']
  }

  /** Returns the reasons why the daemon is not ready; empty if it is ready. */
  ready(): readonly string[] {
    return [...this.#reasons, ...this.#needed.map((need) => need()).filter((reason) => reason !== undefined)]
  }

  /** Adds a condition for readiness. `need` returns the reason why no work is possible, or undefined. */
  require(need: () => string | undefined): void {
    this.#needed.push(need)
  }

  /** Adds a warning. `warning` returns undefined without a problem. */
  watch(warning: () => string | undefined): void {
    this.#watched.push(warning)
  }

  /** Adds open errors of the service, as stored by the last check. */
  watchErrors(errors: () => readonly { readonly id: string; readonly summary: string }[]): void {
    this.#errors = errors
  }

  /** Returns problems that need a person soon while the daemon still works. A watched warning replaces a stored error of its kind. */
  warnings(): readonly string[] {
    const watched = this.#watched.map((warning) => warning()).filter((warning) => warning !== undefined)
    const stored = this.#errors().filter(({ id }) => !watched.some((warning) => warning.startsWith(`${id}: `)))
    return [...watched, ...stored.map(({ id, summary }) => `${id}: ${summary}`)]
  }
}
