/** The project a caller works in: its state, its use of what the plan allows, and its no-route policy. Spec "project state". */
import type { PlanName } from '#config/plans.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import type { Scope } from '../access/scope.ts'
import type { Clock } from '../clock.ts'
import { limitsOf } from '../limits.ts'
import { Refusal } from '../refusals.ts'
import type { SettingWrites } from '../setting-writes.ts'
import { captureCounter, dayOf, monthOf, organizationSendCounter } from './counters.ts'
import { captureCapOf, organizations, projects, type NoRoutePolicy, type Project } from './organization.ts'

export interface ProjectOptions {
  readonly database: Database
  readonly writes: SettingWrites
  readonly clock: Clock
}

/** A project with what was used of its limits so far. */
export interface ProjectState {
  readonly project: Project
  readonly plan: PlanName
  /** Of the whole organization in this UTC day, because the cap is the organization's. */
  readonly sendsToday: number
  /** null: no cap. */
  readonly sendsCap: number | null
  readonly capturesThisMonth: number
  /** null: no cap. */
  readonly capturesCap: number | null
}

export class Projects {
  readonly #options: ProjectOptions

  constructor(options: ProjectOptions) {
    this.#options = options
  }

  /** The project of the scope. */
  async me(scope: Scope): Promise<ProjectState> {
    const { database, clock } = this.#options
    const { organizationId } = scope
    const now = clock.now()
    const [organization, stored] = await Promise.all([database.get(organizations, { organizationId }, organizationId), this.#get(scope)])
    if (!organization) throw new Error(`organization ${organizationId} is missing`)
    const [sendsToday, capturesThisMonth] = await Promise.all([
      database.kv.counter(pack(organizationSendCounter(organizationId, dayOf(now)))),
      database.kv.counter(pack(captureCounter(organizationId, stored.record.id, monthOf(now)))),
    ])
    return {
      project: stored.record,
      plan: organization.record.plan,
      sendsToday,
      sendsCap: limitsOf(organization.record).sendsPerDay ?? null,
      capturesThisMonth,
      capturesCap: captureCapOf(stored.record, organization.record) ?? null,
    }
  }

  /** What happens to sends that match no destination, from now on. Spec "Relay or capture decision" 4. */
  async setNoRoutePolicy(scope: Scope, noRoutePolicy: NoRoutePolicy): Promise<ProjectState> {
    await this.#options.writes.run(scope.organizationId, async (change) => {
      const stored = await this.#get(scope)
      if (stored.record.noRoutePolicy !== noRoutePolicy)
        change.replace(projects, scope.organizationId, stored, { ...stored.record, noRoutePolicy })
    })
    return this.me(scope)
  }

  async #get(scope: Scope): Promise<Stored<Project>> {
    const stored = await this.#options.database.get(projects, scope, scope.projectId)
    if (!stored) throw new Refusal('not_found', 'The project of this key is gone.')
    return stored
  }
}
