/** What is done for sites in the background, by one daemon: what is left over goes, and what was used is settled. */
import type { Timer } from '../clock.ts'
import type { Core } from '../core.ts'
import { WorkLoop } from '../work-loop.ts'
import { sweepSites } from './deploys/sweep.ts'
import { settledEveryMs, settleStored, settleTraffic } from './metering/settlement.ts'
import type { SiteCredits } from './metering/site-credits.ts'
import { siteWork } from './site.ts'

export interface SiteUpkeepOptions extends Core {
  readonly credits: SiteCredits
  readonly onError: (error: unknown) => void
}

/** Credit that is used up is noticed within ten seconds. */
const everyMs = 5000

export class SiteUpkeep {
  readonly #options: SiteUpkeepOptions
  readonly #rounds: WorkLoop
  #timer: Timer | undefined
  #settledAt: number | undefined

  constructor(options: SiteUpkeepOptions) {
    this.#options = options
    this.#rounds = new WorkLoop({ round: () => this.#round(), onError: options.onError })
  }

  /** Looks by itself from now on. */
  start(): void {
    const { database, clock } = this.#options
    database.onWork(siteWork, () => this.wake())
    this.#timer?.cancel()
    this.#timer = clock.after(everyMs, () => this.start())
    this.wake()
  }

  wake(): void {
    this.#rounds.wake()
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#rounds.idle()
  }

  /** Ends between two writes; the next start goes on. */
  async stop(): Promise<void> {
    this.#timer?.cancel()
    await this.#rounds.stop()
  }

  async #round(): Promise<void> {
    const { database, writes, clock, credits } = this.#options
    const base = { database, writes, nowMs: clock.now(), stopping: () => this.#rounds.stopping }
    await sweepSites(base)
    if (!credits.settle) return
    const work = { ...base, settle: credits.settle }
    await settleTraffic(work)
    if (this.#settledAt !== undefined && work.nowMs - this.#settledAt < settledEveryMs / 6) return
    await settleStored(work)
    this.#settledAt = work.nowMs
  }
}
