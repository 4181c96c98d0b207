/** Creates, reads, changes, moves and deletes sites; for their contents see `deploys/`. */
import type { Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import { lookupPrefix, type Stored } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import { byProject, listReachable, mapRows, type List, type OfProject, type PageQuery } from '../access/principal/lists.ts'
import { owningProject } from '../access/principal/project-choice.ts'
import type { Principal } from '../access/principal/principal.ts'
import type { Core } from '../core.ts'
import { Refusal } from '../refusals.ts'
import { must } from '../writes/transact.ts'
import type { SiteAddresses } from './site-addresses.ts'
import { deploysOf } from './deploys/stored-deploys.ts'
import type { SiteCredits } from './metering/site-credits.ts'
import { removeSite } from './remove-sites.ts'
import { sites, siteUsages, type Site } from './site.ts'
import { requireSlug } from './slug.ts'

export interface NewSite {
  readonly slug: string
  readonly projectId?: string | undefined
}

export interface SiteChanges {
  readonly slug?: string | undefined
  readonly projectId?: string | undefined
  readonly paused?: boolean | undefined
}

/** Reason for the current response of a site. */
export type SiteStatus = 'live' | 'paused' | 'paused_credits' | 'taken_down'

export interface ListedSite extends Site {
  readonly status: SiteStatus
  readonly url: string
}

export interface SitesOptions extends Core {
  readonly credits: SiteCredits
  /** Undefined if the service serves no sites. */
  readonly addresses: SiteAddresses | undefined
}

const maxSites = 500

export class Sites implements List<OfProject, ListedSite> {
  readonly #options: SitesOptions

  constructor(options: SitesOptions) {
    this.#options = options
  }

  /** Throws `validation_failed` for an invalid name, and `conflict` for a name in use. */
  async create(principal: Principal, { slug, projectId: named }: NewSite): Promise<ListedSite> {
    const { writes, policies, database, clock, addresses } = this.#options
    if (!addresses) throw notServed()
    requireSlug(slug)
    const made = await writes.runAudited(principal, 'site.created', async (change) => {
      const { organizationId } = principal
      const { projects } = await policies.of(organizationId)
      const projectId = owningProject(principal, projects, named)
      await this.#requireFree(slug)
      if ((await database.all(sites, { organizationId })).length >= maxSites)
        throw new Refusal('conflict', `An organization has at most ${maxSites} sites; delete one.`)
      const now = clock.now()
      const id = database.newId('sit', now)
      const site: Site = {
        ...{ id, projectId, slug, activeDeployId: null, pausedAt: null, takedown: null, domains: [] },
        ...{ createdAt: now, updatedAt: now },
      }
      change.insert(sites, organizationId, site)
      change.insert(siteUsages, organizationId, { id, storedBytes: 0, since: now, byteMs: '0' })
      return site
    })
    return this.#listed(principal, made)
  }

  /** Newest first. */
  async list(principal: Principal, query: PageQuery & OfProject): Promise<Page<ListedSite>> {
    const page = await listReachable(this.#options, sites, principal, query, byProject)
    const hasCredit = await this.#options.credits.hasCredit(principal.organizationId)
    return mapRows(page, (site) => this.#withStatus(site, hasCredit))
  }

  /** Throws `not_found` for missing ids and for ids of other organizations. */
  async get(principal: Principal, id: string): Promise<ListedSite> {
    return this.#listed(principal, (await must(this.#options.database, sites, principal, id)).record)
  }

  /** Changes name, project or pause. After a renaming, any organization can use the old name. */
  async update(principal: Principal, id: string, { slug, projectId: to, paused }: SiteChanges): Promise<ListedSite> {
    const { writes, policies, database, clock } = this.#options
    if (slug !== undefined) requireSlug(slug)
    const changed = await writes.runAudited(principal, 'site.updated', async (change) => {
      const { organizationId } = principal
      const { projects } = await policies.of(organizationId)
      const stored = await must(database, sites, principal, id)
      const { record } = stored
      if (slug !== undefined && slug !== record.slug) await this.#requireFree(slug)
      const next: Site = {
        ...record,
        slug: slug ?? record.slug,
        projectId: to === undefined ? record.projectId : owningProject(principal, projects, to),
        pausedAt: paused === undefined ? record.pausedAt : paused ? (record.pausedAt ?? clock.now()) : null,
      }
      return this.#replace(change, principal, stored, next)
    })
    return this.#listed(principal, changed)
  }

  /** Deletes the site with all its data permanently; any organization can use its name afterwards. */
  remove(principal: Principal, id: string): Promise<void> {
    const { writes, database, clock } = this.#options
    return writes.runAudited(principal, 'site.deleted', async (change) => {
      const stored = await must(database, sites, principal, id)
      const { organizationId } = principal
      await removeSite({ database, nowMs: clock.now() }, change, organizationId, stored, await deploysOf(database, organizationId, id))
    })
  }

  #replace(change: Change, { organizationId }: Principal, stored: Stored<Site>, next: Site): Site {
    const { slug, projectId, pausedAt } = stored.record
    if (slug === next.slug && projectId === next.projectId && pausedAt === next.pausedAt) return stored.record
    const site = { ...next, updatedAt: this.#options.clock.now() }
    change.replace(sites, organizationId, stored, site)
    return site
  }

  /** Checks the name early; the write itself fails if another site uses the name by then. */
  async #requireFree(slug: string): Promise<void> {
    const { kv } = this.#options.database
    if (await kv.get(pack([...lookupPrefix(sites.name, 'slug'), slug])))
      throw new Refusal('conflict', 'This name is taken; choose another one.', { nextAction: 'choose_slug' })
  }

  async #listed({ organizationId }: Principal, site: Site): Promise<ListedSite> {
    return this.#withStatus(site, await this.#options.credits.hasCredit(organizationId))
  }

  #withStatus(site: Site, hasCredit: boolean): ListedSite {
    return { ...site, status: statusOf(site, hasCredit), url: this.#options.addresses?.siteUrl(site.slug) ?? '' }
  }
}

export function statusOf({ takedown, pausedAt }: Pick<Site, 'takedown' | 'pausedAt'>, hasCredit: boolean): SiteStatus {
  if (takedown) return 'taken_down'
  if (pausedAt !== null) return 'paused'
  return hasCredit ? 'live' : 'paused_credits'
}

const notServed = (): Refusal =>
  new Refusal('feature_unavailable', 'This service serves no websites: its operator has set no domain for them (POSTERN_SITES_DOMAIN).')
