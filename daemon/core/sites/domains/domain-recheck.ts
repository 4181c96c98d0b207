/** Looks again at domains of sites that are verified: records change without a word. Done in the background by one daemon. */
import type { Timer } from '../../clock.ts'
import type { Core } from '../../core.ts'
import { allOrganizations } from '../../tenancy/organization-list.ts'
import { WorkLoop } from '../../work-loop.ts'
import { sites, type SiteDomain } from '../site.ts'
import type { SiteDomains } from './site-domains.ts'

export interface DomainRecheckOptions extends Core {
  readonly domains: Pick<SiteDomains, 'recheck'>
  readonly onError: (error: unknown) => void
}

const hour = 3_600_000
/** What was right is looked at so often, and what was not with every round. */
const rightMs = 12 * hour

export class DomainRecheck {
  readonly #options: DomainRecheckOptions
  readonly #rounds: WorkLoop
  #timer: Timer | undefined

  constructor(options: DomainRecheckOptions) {
    this.#options = options
    this.#rounds = new WorkLoop({ round: () => this.#round(), onError: options.onError })
  }

  /** Looks at once, and about every hour. */
  start(): void {
    this.#timer?.cancel()
    this.#timer = this.#options.clock.after(hour, () => this.start())
    this.#rounds.wake()
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#rounds.idle()
  }

  async stop(): Promise<void> {
    this.#timer?.cancel()
    await this.#rounds.stop()
  }

  async #round(): Promise<void> {
    const { database, domains, clock, onError } = this.#options
    for await (const { id: organizationId, deletedAt } of allOrganizations(database)) {
      if (deletedAt !== undefined) continue
      for (const { record } of await database.all(sites, { organizationId }))
        for (const domain of record.domains) {
          if (this.#rounds.stopping) return
          if (isDue(domain, clock.now())) await domains.recheck(organizationId, record, domain.name).catch(onError)
        }
    }
  }
}

const isDue = ({ verifiedAt, checkedAt, problem }: SiteDomain, now: number): boolean =>
  verifiedAt !== null && now - (checkedAt ?? 0) >= (problem === null ? rightMs : hour)
