/**
 * Whether the organization and the project of a message are still there when it is written. One daemon alone sees a deletion before that
 * is acknowledged. Where several share the store, another may delete them at the same moment: so the write is made on condition that the
 * records of both are as they were when neither was deleted.
 */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Check, WriteResult } from '#store/kv.ts'
import { keyOf } from '#store/record-kind.ts'
import { RecentMap } from '../../recent-map.ts'
import { Refusal } from '../../refusals.ts'
import { systemOrganizationId } from '../../routing/policy/system-policy.ts'
import { organizations, projects } from '../../tenancy/organization.ts'

/** Projects whose records are known here: of another one they are read once more. */
const maxKnown = 10_000
/** Settings that change all the time are followed so long. */
const maxTries = 100

export class Standing {
  readonly #database: Database
  readonly #known = new RecentMap<string, readonly Check[]>(maxKnown)

  constructor(database: Database) {
    this.#database = database
  }

  /** Commits what a project gets. Throws `not_found` when it or its organization is deleted; nothing is written then. */
  async commit(change: Change, organizationId: string, projectId: string): Promise<WriteResult> {
    const database = this.#database
    if (database.daemons.isAlone || organizationId === systemOrganizationId) return database.commit(change)
    let known = this.#known.get(projectId)
    for (let tries = 0; ; tries++) {
      const checks = known ?? (await this.#look(organizationId, projectId))
      known = undefined
      change.checks.push(...checks)
      const result = await database.commit(change)
      const isOvertaken = !result.ok && checks.some(({ key }) => Buffer.compare(key, result.key) === 0)
      if (!isOvertaken || tries > maxTries) return result
      change.checks.splice(-checks.length)
    }
  }

  async #look(organizationId: string, projectId: string): Promise<readonly Check[]> {
    const reach = { organizationId }
    const [organization, project] = await Promise.all([
      this.#database.get(organizations, reach, organizationId),
      this.#database.get(projects, reach, projectId),
    ])
    if (!organization || !project || organization.record.deletedAt !== undefined || project.record.deletedAt !== undefined)
      throw noProject()
    const checks = [
      { key: keyOf(organizations, organizationId, organization.record), version: organization.version },
      { key: keyOf(projects, organizationId, project.record), version: project.version },
    ]
    this.#known.set(projectId, checks)
    return checks
  }
}

export const noProject = (): Refusal => new Refusal('not_found', 'project_id: no such project.', { nextAction: 'check_id' })
