/** Takes sites down and restores them; only the operator of the service can do this. */
import type { Page } from '#store/database.ts'
import type { OperatorId } from '../billing/operator.ts'
import type { Core } from '../core.ts'
import type { PageQuery } from '../access/principal/lists.ts'
import { Refusal } from '../refusals.ts'
import { allSites, type OwnedSite, type SiteFilter } from './all-sites.ts'
import { sites, type Site, type TakedownStatus } from './site.ts'

export interface Takedown {
  /** 410: gone; 451: unavailable for legal reasons (RFC 7725 §3). */
  readonly status: TakedownStatus
  readonly reason: string
}

export class Takedowns {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Lists the sites of all organizations in order of their names. Throws `CursorInvalid`. */
  list(query: PageQuery & SiteFilter): Promise<Page<OwnedSite>> {
    return allSites(this.#core, query)
  }

  /** Replaces the site, given by id or name, with this status for visitors; null restores the site. Throws `not_found`. */
  async set(idOrSlug: string, given: Takedown | null, by?: OperatorId): Promise<Site> {
    const { database, writes, audit, clock } = this.#core
    const index = idOrSlug.startsWith('sit_') ? 'id' : 'slug'
    const found = await database.lookup(sites, index, [idOrSlug])
    if (!found) throw new Refusal('not_found', 'No site has this id or name.')
    const { organizationId } = found
    return writes.run(organizationId, async (change) => {
      const stored = await database.get(sites, { organizationId }, found.record.id)
      if (!stored) throw new Refusal('not_found', 'No site has this id or name.')
      const at = clock.now()
      const site: Site = { ...stored.record, takedown: given && { ...given, at }, updatedAt: at }
      change.replace(sites, organizationId, stored, site)
      audit.record(change, {
        ...{ organizationId, projectId: site.projectId, target: site.id, actor: { kind: 'operator', id: by ?? '' } },
        ...{ act: given ? 'site.taken_down' : 'site.let_back', details: given ? { ...given } : {} },
      })
      return site
    })
  }
}
