/** Adds the health to resources. A page costs one read of the open findings, and at most one read for each resource. */
import type { Database, Page } from '#store/database.ts'
import type { Principal } from '../access/principal/principal.ts'
import type { Core } from '../core.ts'
import { findings, type Finding } from '../findings/finding.ts'
import { healthOf, type Health } from './health.ts'
import type { HealthSource } from './resources.ts'

export interface HasHealth {
  readonly health: Health
}

/** Maximum number of open findings of an organization that are read, errors first. */
const maxOpen = 1000

export class ResourceHealth {
  readonly #database: Database

  constructor({ database }: Pick<Core, 'database'>) {
    this.#database = database
  }

  async one<R extends object>(principal: Principal, source: HealthSource<R>, resource: R): Promise<R & HasHealth> {
    return this.#add(principal, source, resource, await this.#open(principal))
  }

  async page<R extends object>(principal: Principal, source: HealthSource<R>, { rows, nextCursor }: Page<R>): Promise<Page<R & HasHealth>> {
    const open = rows.length === 0 ? [] : await this.#open(principal)
    return { rows: await Promise.all(rows.map((row) => this.#add(principal, source, row, open))), nextCursor }
  }

  async #add<R extends object>(
    { organizationId }: Principal,
    { isAbout, results }: HealthSource<R>,
    resource: R,
    open: readonly Finding[],
  ): Promise<R & HasHealth> {
    const own = open.filter((finding) => isAbout(resource, finding))
    const seen = await results(this.#database, organizationId, resource)
    return { ...resource, health: healthOf(own, seen) }
  }

  async #open({ organizationId }: Principal): Promise<readonly Finding[]> {
    const listed = { index: 'listed', values: ['open'], limit: maxOpen, forWork: true } as const
    const { rows } = await this.#database.list(findings, { organizationId }, listed)
    return rows.map(({ record }) => record)
  }
}
