/** Counts the work in progress of a daemon in this process, so that tests can wait for its end. */
import type { Activity } from '#core/activity.ts'
import { FakeClock } from '../fake-clock.ts'
import { waiting } from '../waits.ts'

/** Turns of the event loop without work before a daemon is settled: work can yield, and data takes turns to reach a peer. */
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

  /** Lists the work in progress for error messages. */
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
