/**
 * What time alone changes in billing, done in the background by one daemon: credits come with their months and expire, months that are
 * over are closed, and what is owed is asked for.
 */
import type { Core } from '../core.ts'
import type { Timer } from '../clock.ts'
import { allOrganizations } from '../tenancy/organization-list.ts'
import { WorkLoop } from '../work-loop.ts'
import type { Closing } from './closing/closing.ts'
import type { InvoiceRegister } from './closing/invoice-register.ts'
import type { Credits } from './credits/credits.ts'

export interface BillingUpkeepOptions extends Core {
  readonly credits: Credits
  readonly closing: Closing
  readonly register: InvoiceRegister
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

  /** Something was closed, and may be asked for. */
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
    const { database, credits, closing, register } = this.#options
    const stopping = (): boolean => this.#rounds.stopping
    for await (const { id } of allOrganizations(database)) {
      if (stopping()) return
      await credits.refresh(id)
    }
    await closing.closeDue(stopping)
    await register.askForPayment(stopping)
  }
}
