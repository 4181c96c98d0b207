/**
 * How many reports may wait for their messages, for one organization: a log full of mail of others must neither fill the store nor keep
 * the reports of everybody waiting. The numbers are those of this process, and are corrected whenever all that waits is looked at.
 */

export class WaitingRoom {
  readonly #hopefulMax: number
  readonly #expectedMax: number
  #counts: ReadonlyMap<string, number> = new Map()
  readonly #entered = new Map<string, number>()

  /** `hopefulMax` reports that fit nothing so far, which hardly any message follows to; `expectedMax` with those whose message is under way. */
  constructor(hopefulMax = 10_000, expectedMax = 20_000) {
    this.#hopefulMax = hopefulMax
    this.#expectedMax = expectedMax
  }

  /** Whether one more may wait. At the bounce domain, where no organization is named, messages themselves are the bound. */
  hasRoom(organizationId: string | null, isExpected: boolean): boolean {
    if (organizationId === null) return true
    const waiting = (this.#counts.get(organizationId) ?? 0) + (this.#entered.get(organizationId) ?? 0)
    return waiting < (isExpected ? this.#expectedMax : this.#hopefulMax)
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
