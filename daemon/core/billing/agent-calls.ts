/** Counts calls of agents for display; they are never billed. */
import { Change } from '#store/change.ts'
import type { Core } from '../core.ts'
import { HeldCounts } from '../held-counts.ts'
import { agentCallCounter, monthOf } from '../tenancy/counters.ts'

export interface AgentCallsOptions extends Pick<Core, 'database' | 'clock'> {
  readonly onError: (error: unknown) => void
}

export class AgentCalls {
  readonly #held: HeldCounts<{ calls: number }>

  constructor(options: AgentCallsOptions) {
    const { database, clock } = options
    const write = (held: ReadonlyMap<string, { readonly calls: number }>): Promise<unknown> => {
      const change = new Change()
      for (const [organizationId, { calls }] of held) change.add(agentCallCounter(organizationId, monthOf(clock.now())), calls)
      return database.commit(change)
    }
    this.#held = new HeldCounts({ ...options, write })
  }

  count(organizationId: string): void {
    this.#held.of(organizationId, () => ({ calls: 0 })).calls++
  }

  /** Writes the counts in memory; resolves when they are durable. */
  stop(): Promise<void> {
    return this.#held.flush()
  }
}
