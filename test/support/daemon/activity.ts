/** Counts the work in progress of a daemon in this process, so that a test waits for the end of all work. */
import type { Activity } from '#core/activity.ts'
import { FakeClock } from '../fake-clock.ts'
import { waiting } from '../waits.ts'

/** Between two steps, work may leave the event loop to others for a turn, and what it sends to a peer in this process takes turns. */
const stillTurns = 4

export class CountedActivity implements Activity {
  readonly #counts = new Map<string, number>()
  #begun = 0
  #total = 0
  #none: PromiseWithResolvers<void> | undefined

  begin(name: string): () => void {
    this.#begun++
    this.#count(name, 1)
    return () => this.#count(name, -1)
  }

  /** What is in progress, for people. */
  toString(): string {
    return [...this.#counts].map(([name, count]) => `${count} × ${name}`).join(', ') || 'nothing'
  }

  /** Resolves when nothing is in progress and no timer of the clock is due. */
  settled(clock?: FakeClock): Promise<void> {
    return waiting(() => `the daemon settles (in progress: ${this.toString()})`, this.#settle(clock))
  }

  /** Moves the clock to each due timer in turn, and settles after each. */
  async pass(clock: FakeClock, ms: number): Promise<void> {
    const end = clock.monotonic() + ms
    await this.settled(clock)
    while (clock.nextTimer <= end) {
      clock.advanceTo(clock.nextTimer)
      await this.settled(clock)
    }
    clock.advanceTo(end)
    await this.settled(clock)
  }

  async #settle(clock: FakeClock | undefined): Promise<void> {
    for (let still = 0; still < stillTurns;) {
      clock?.advance(0)
      const before = this.#begun
      if (this.#total > 0) await (this.#none ??= Promise.withResolvers()).promise
      await new Promise(setImmediate)
      still = this.#begun === before && this.#total === 0 ? still + 1 : 0
    }
  }

  #count(name: string, by: 1 | -1): void {
    const count = (this.#counts.get(name) ?? 0) + by
    if (count > 0) this.#counts.set(name, count)
    else this.#counts.delete(name)
    this.#total += by
    if (this.#total > 0) return
    this.#none?.resolve()
    this.#none = undefined
  }
}
