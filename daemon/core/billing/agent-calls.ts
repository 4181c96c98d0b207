/**
 * Calls of agents, counted to be shown and never billed. They are held for a second, so that a call costs no write of its own; a crash
 * loses that second.
 */
import { Change } from '#store/change.ts'
import type { Timer } from '../clock.ts'
import type { Core } from '../core.ts'
import { agentCallCounter, monthOf } from '../tenancy/counters.ts'

export interface AgentCallsOptions extends Pick<Core, 'database' | 'clock'> {
  readonly onError: (error: unknown) => void
}

const heldMs = 1000

export class AgentCalls {
  readonly #options: AgentCallsOptions
  #held = new Map<string, number>()
  #timer: Timer | undefined
  #writing: Promise<unknown> = Promise.resolve()

  constructor(options: AgentCallsOptions) {
    this.#options = options
  }

  count(organizationId: string): void {
    this.#held.set(organizationId, (this.#held.get(organizationId) ?? 0) + 1)
    this.#timer ??= this.#options.clock.after(heldMs, () => this.#write())
  }

  /** Writes what is held; resolves when that is durable. */
  async stop(): Promise<void> {
    this.#timer?.cancel()
    this.#write()
    await this.#writing
  }

  #write(): void {
    this.#timer = undefined
    if (this.#held.size === 0) return
    const { database, clock, onError } = this.#options
    const change = new Change()
    for (const [organizationId, calls] of this.#held) change.add(agentCallCounter(organizationId, monthOf(clock.now())), calls)
    this.#held = new Map()
    this.#writing = database.commit(change).catch(onError)
  }
}
