/**
 * Checks at commit that the organization and the project of a message still exist. A single daemon always knows of a deletion before it is
 * acknowledged. With several daemons, another daemon may delete them at the same time. The write then depends on unchanged records of both.
 */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Check, WriteResult } from '#store/kv.ts'
import { keyOf } from '#store/record-kind.ts'
import { RecentMap } from '../../recent-map.ts'
import { Refusal } from '../../refusals.ts'
import { systemOrganizationId } from '../../routing/policy/system-policy.ts'
import { organizations, projects } from '../../tenancy/organization.ts'

/** Maximum number of cached projects. Reads the records of other projects again. */
const maxKnown = 10_000
/** Maximum number of retries when the settings keep changing. */
const maxTries = 100

export class Standing {
  readonly #database: Database
  readonly #known = new RecentMap<string, readonly Check[]>(maxKnown)

  constructor(database: Database) {
    this.#database = database
  }

  /** Commits a change of a project. Throws `not_found`, and writes nothing, if the project or its organization is deleted. */
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
