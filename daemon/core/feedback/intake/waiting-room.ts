/**
 * Limits pending reports per organization. A log full of foreign mail must not fill the store or delay other organizations. Counts are per
 * process and are corrected after each round over all pending reports.
 */

export class WaitingRoom {
  readonly #maxHopeful: number
  readonly #maxExpected: number
  #counts: ReadonlyMap<string, number> = new Map()
  readonly #entered = new Map<string, number>()

  /**
   * `maxHopeful` limits reports that match nothing yet, which rarely match later. `maxExpected` limits them together with reports whose
   * message is in progress.
   */
  constructor(maxHopeful = 10_000, maxExpected = 20_000) {
    this.#maxHopeful = maxHopeful
    this.#maxExpected = maxExpected
  }

  /** Whether another report may be stored. Reports at the bounce domain have no organization; the number of messages limits them. */
  hasRoom(organizationId: string | null, isExpected: boolean): boolean {
    if (organizationId === null) return true
    const waiting = (this.#counts.get(organizationId) ?? 0) + (this.#entered.get(organizationId) ?? 0)
    return waiting < (isExpected ? this.#maxExpected : this.#maxHopeful)
  }

  enter(organizationId: string | null): void {
    if (organizationId !== null) this.#entered.set(organizationId, (this.#entered.get(organizationId) ?? 0) + 1)
  }

  /** Replaces the counts by the numbers found in a complete round. */
  correct(counts: ReadonlyMap<string, number>): void {
    this.#counts = counts
    this.#entered.clear()
  }
}
