/**
 * How many reports may wait for their messages, for one organization: a log full of mail of others must neither fill the store nor keep
 * the reports of everybody waiting. The numbers are those of this process, and are corrected whenever all that waits is looked at.
 */

export class WaitingRoom {
  readonly #maxHopeful: number
  readonly #maxExpected: number
  #counts: ReadonlyMap<string, number> = new Map()
  readonly #entered = new Map<string, number>()

  /** `maxHopeful` reports that match nothing so far, which rarely changes; `maxExpected` with those whose message is under way. */
  constructor(maxHopeful = 10_000, maxExpected = 20_000) {
    this.#maxHopeful = maxHopeful
    this.#maxExpected = maxExpected
  }

  /** Whether one more may wait. At the bounce domain, where no organization is named, messages themselves are the bound. */
  hasRoom(organizationId: string | null, isExpected: boolean): boolean {
    if (organizationId === null) return true
    const waiting = (this.#counts.get(organizationId) ?? 0) + (this.#entered.get(organizationId) ?? 0)
    return waiting < (isExpected ? this.#maxExpected : this.#maxHopeful)
  }

  enter(organizationId: string | null): void {
    if (organizationId !== null) this.#entered.set(organizationId, (this.#entered.get(organizationId) ?? 0) + 1)
  }

  /** `counts` as they were found, of all that wait. */
  correct(counts: ReadonlyMap<string, number>): void {
    this.#counts = counts
    this.#entered.clear()
  }
}
