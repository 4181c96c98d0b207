/** Whether the daemon can do its work, for `/readyz`: from the moment all listeners accept until it begins to stop. */
export class Readiness {
  #reasons: readonly string[] = ['starting']

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
    return this.#reasons
  }
}
