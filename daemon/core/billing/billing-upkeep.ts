/** What time alone changes in billing, done in the background by one daemon: credits come with their months and expire. */
import type { Core } from '../core.ts'
import type { Timer } from '../clock.ts'
import { allOrganizations } from '../tenancy/organization-list.ts'
import { WorkLoop } from '../work-loop.ts'
import type { Credits } from './credits/credits.ts'

export interface BillingUpkeepOptions extends Core {
  readonly credits: Credits
  readonly onError: (error: unknown) => void
}

const everyMs = 3_600_000

export class BillingUpkeep {
  readonly #options: BillingUpkeepOptions
  readonly #rounds: WorkLoop
  #timer: Timer | undefined

  constructor(options: BillingUpkeepOptions) {
    this.#options = options
    this.#rounds = new WorkLoop({ round: () => this.#round(), onError: options.onError })
  }

  /** Looks at once, and about every hour. */
  start(): void {
    this.#timer = this.#options.clock.after(everyMs, () => this.start())
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
    for await (const { id } of allOrganizations(this.#options.database)) {
      if (this.#rounds.stopping) return
      await this.#options.credits.refresh(id)
    }
  }
}
