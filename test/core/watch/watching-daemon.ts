/** Quick checks of a daemon that shares its store, with the health of a destination that only this daemon knows. */
import type { BreakerView } from '#core/delivery/health/health-registry.ts'
import type { Login } from '#core/delivery/health/login.ts'
import { Settle } from '#core/findings/settle.ts'
import { Looks } from '#core/watch/look.ts'
import type { Database } from '#store/database.ts'
import { organizationId, projectId, type CoreFixture } from '../core-fixture.ts'

const closed: BreakerView = { phase: 'closed', since: null, reason: null, cause: null, until: null }

/** Recipients that the destination accepted, as an attempt counts them. */
export const delivered = {
  ...{ destinationId: 'dst_1', taken: ['a@example.net'], failed: [], deferred: [], isRetry: false, isError: false, timings: {} },
}

export class WatchingDaemon {
  /** Undefined until this daemon has tried to sign in. */
  login: Login | undefined
  breaker = closed
  /** Number of tests of the destination that this daemon requested. */
  probes = 0
  readonly #looks: Looks

  /** `running` has the ids of the daemons that run. */
  constructor({ context, database, clock }: CoreFixture, id: string, running: ReadonlySet<string>) {
    this.#looks = new Looks({
      ...context,
      database: asDaemon(database, id),
      settle: new Settle({ database, clock, isRunning: (daemon) => running.has(daemon) }),
      health: { login: () => this.login, breaker: () => this.breaker },
      probe: () => void this.probes++,
    })
  }

  async look(): Promise<void> {
    await this.#looks.look(organizationId, new Set([projectId]))
  }
}

/** The same store with the id of another daemon. */
const asDaemon = (database: Database, id: string): Database =>
  new Proxy(database, {
    get(target, name) {
      if (name === 'daemons') return { ...target.daemons, id }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
