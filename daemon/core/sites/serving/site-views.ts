/** Current state of a host: its deploy, or the reason for having no deploy. Cached until a setting of its organization changes. */
import type { Database } from '#store/database.ts'
import type { Core } from '../../core.ts'
import { isSwitchedOn } from '../../plan/features.ts'
import type { SiteAddresses } from '../site-addresses.ts'
import { readBlobText } from '../deploys/blobs.ts'
import { headersFile, redirectsFile } from '../deploys/site-path.ts'
import { deploysOf, readManifest } from '../deploys/stored-deploys.ts'
import type { SiteCredits } from '../metering/site-credits.ts'
import { siteBlobs, sites, type Site, type SiteBlob, type TakedownStatus } from '../site.ts'
import { statusOf } from '../sites.ts'
import { previewLabel, previewLabelLength, readSiteHost, type SiteHost } from '../slug.ts'
import { readHeaderRules, type HeaderRules } from './header-rules.ts'
import { readRedirects, type Redirects } from './redirects.ts'
import { maxRuleFileBytes } from './rule-problem.ts'
import { WeighedCache } from './weighed-cache.ts'

/** A file of a deploy. The first response loads its blob. */
export interface ServedFile {
  readonly path: string
  readonly sha256: string
  blob: SiteBlob | undefined
}

/** A deploy that is ready for serving. */
export interface ServedDeploy {
  readonly id: string
  readonly files: ReadonlyMap<string, ServedFile>
  readonly redirects: Redirects
  readonly headers: HeaderRules
}

/** Current state of a host. */
export interface SiteView {
  readonly organizationId: string
  readonly siteId: string
  readonly state: 'live' | 'paused' | TakedownStatus
  /** Undefined if the site has no active deploy. */
  readonly deploy: ServedDeploy | undefined
  readonly isPreview: boolean
}

export interface SiteViewsOptions extends Core {
  readonly addresses: SiteAddresses
  readonly credits: SiteCredits
}

interface Kept {
  readonly generation: number
  readonly view: SiteView
  readonly untilMs: number
}

/** Limit for files of all cached deploys; each host counts as `hostWeight` files. */
const maxFiles = 100_000
const hostWeight = 20
/**
 * Lifetime of cached credit states, because credit is not a setting. Counting takes up to one second and settling up to five. A site
 * without credit is therefore paused within nine seconds.
 */
const keptMs = 3000

export class SiteViews {
  readonly #options: SiteViewsOptions
  readonly #kept = new WeighedCache<Kept>(maxFiles)
  readonly #deploys = new WeighedCache<ServedDeploy>(maxFiles)
  readonly #loading = new Map<string, Promise<SiteView | undefined>>()

  constructor(options: SiteViewsOptions) {
    this.#options = options
  }

  /** Returns the cached view, unless it is outdated. */
  cached(host: string): SiteView | undefined {
    const kept = this.#kept.get(host)
    if (!kept || kept.untilMs < this.#options.clock.monotonic()) return undefined
    return kept.generation === this.#options.database.generation(kept.view.organizationId) ? kept.view : undefined
  }

  /** Returns undefined for hosts without a site. `host` is in lower case and has no port. */
  find(host: string): Promise<SiteView | undefined> {
    const known = this.#loading.get(host)
    if (known) return known
    const loading = this.#load(host).finally(() => this.#loading.delete(host))
    this.#loading.set(host, loading)
    return loading
  }

  /** Returns whether a certificate for the host can be issued: the host belongs to an existing site or deploy. */
  async isServed(host: string): Promise<boolean> {
    return (this.cached(host) ?? (await this.find(host))) !== undefined
  }

  async #load(host: string): Promise<SiteView | undefined> {
    const { database, clock, policies, credits } = this.#options
    const found = await this.#siteOf(host)
    if (!found) return undefined
    const { organizationId, label } = found
    const generation = database.generation(organizationId)
    const site = (await database.get(sites, { organizationId }, found.id))?.record
    const { organization, deleted } = await policies.of(organizationId)
    const isGone = organization.deletedAt !== undefined || !isSwitchedOn(organization, 'managed_websites')
    if (!site || isGone || deleted.has(site.projectId)) return undefined
    const deployId = label === undefined ? site.activeDeployId : await previewOf(database, organizationId, site, label)
    if (label !== undefined && deployId === null) return undefined
    const status = statusOf(site, await credits.hasCredit(organizationId))
    const state = site.takedown?.status ?? (status === 'live' ? 'live' : 'paused')
    const deploy = deployId === null ? undefined : await this.#deploy(organizationId, deployId)
    const view: SiteView = { organizationId, siteId: site.id, state, deploy, isPreview: label !== undefined }
    const kept = { generation, view, untilMs: clock.monotonic() + keptMs }
    this.#kept.set(host, kept, hostWeight + (deploy?.files.size ?? 0))
    return view
  }

  async #siteOf(
    host: string,
  ): Promise<{ readonly organizationId: string; readonly id: string; readonly label: string | undefined } | undefined> {
    const { database, addresses } = this.#options
    const own: SiteHost | undefined = readSiteHost(host, addresses.domain)
    const label = own?.deployLabel
    if (label !== undefined && label.length !== previewLabelLength) return undefined
    const found = own ? await database.lookup(sites, 'slug', [own.slug]) : await database.lookup(sites, 'domain', [host])
    return found && { organizationId: found.organizationId, id: found.record.id, label }
  }

  /** Cached, because deploys never change. */
  async #deploy(organizationId: string, deployId: string): Promise<ServedDeploy> {
    const known = this.#deploys.get(deployId)
    if (known) return known
    const { database } = this.#options
    const manifest = await readManifest(database, organizationId, deployId)
    const files = new Map<string, ServedFile>()
    for (const { path, sha256 } of manifest) files.set(path, { path, sha256, blob: undefined })
    const [redirects, headers] = await Promise.all(
      [redirectsFile, headersFile].map((path) => readRules(database, organizationId, files.get(path)?.sha256)),
    )
    const deploy = { id: deployId, files, redirects: readRedirects(redirects ?? ''), headers: readHeaderRules(headers ?? '') }
    this.#deploys.set(deployId, deploy, manifest.length)
    return deploy
  }
}

/** Returns the content of a rule file; empty if the file is missing. */
export async function readRules(database: Database, organizationId: string, sha256: string | undefined): Promise<string> {
  if (sha256 === undefined) return ''
  const blob = (await database.get(siteBlobs, { organizationId }, sha256))?.record
  return blob ? readBlobText(database, organizationId, blob, maxRuleFileBytes) : ''
}

/** Returns the deploy whose id has this suffix; null if the site has no ready deploy with it. */
async function previewOf(database: Database, organizationId: string, { id }: Site, label: string): Promise<string | null> {
  const found = (await deploysOf(database, organizationId, id)).find(({ record }) => previewLabel(record.id) === label)
  return found?.record.status === 'ready' ? found.record.id : null
}
