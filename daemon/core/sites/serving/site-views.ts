/** What a host is answered with now: which deploy, or why none. Kept in memory until a setting of its organization changes. */
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

/** A file of a deploy. What is stored of it is read with its first answer. */
export interface ServedFile {
  readonly path: string
  readonly sha256: string
  blob: SiteBlob | undefined
}

/** The files of a deploy, ready to be served. */
export interface ServedDeploy {
  readonly id: string
  readonly files: ReadonlyMap<string, ServedFile>
  readonly redirects: Redirects
  readonly headers: HeaderRules
}

/** What a host is answered with. */
export interface SiteView {
  readonly organizationId: string
  readonly siteId: string
  readonly state: 'live' | 'paused' | TakedownStatus
  /** Undefined where there is none. */
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

/** Files of all deploys in memory; a host counts as some of them besides. */
const maxFiles = 100_000
const hostWeight = 20
/** Credit is no setting: so soon it is looked at again. Traffic is counted within a second and settled within five: nine in all. */
const keptMs = 3000

export class SiteViews {
  readonly #options: SiteViewsOptions
  readonly #kept = new WeighedCache<Kept>(maxFiles)
  readonly #deploys = new WeighedCache<ServedDeploy>(maxFiles)
  readonly #loading = new Map<string, Promise<SiteView | undefined>>()

  constructor(options: SiteViewsOptions) {
    this.#options = options
  }

  /** The view where it is in memory and holds. */
  cached(host: string): SiteView | undefined {
    const kept = this.#kept.get(host)
    if (!kept || kept.untilMs < this.#options.clock.monotonic()) return undefined
    return kept.generation === this.#options.database.generation(kept.view.organizationId) ? kept.view : undefined
  }

  /** Undefined for hosts of no site. `host` is in lower case and without a port. */
  find(host: string): Promise<SiteView | undefined> {
    const known = this.#loading.get(host)
    if (known) return known
    const loading = this.#load(host).finally(() => this.#loading.delete(host))
    this.#loading.set(host, loading)
    return loading
  }

  /** Whether a certificate for the host may be had: of a site that is there, and of a deploy that it has. */
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

  /** Deploys do not change. */
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

/** The content of a file with rules; empty where there is none. */
export async function readRules(database: Database, organizationId: string, sha256: string | undefined): Promise<string> {
  if (sha256 === undefined) return ''
  const blob = (await database.get(siteBlobs, { organizationId }, sha256))?.record
  return blob ? readBlobText(database, organizationId, blob, maxRuleFileBytes) : ''
}

/** The deploy whose id ends so; null where the site has none that is whole. */
async function previewOf(database: Database, organizationId: string, { id }: Site, label: string): Promise<string | null> {
  const found = (await deploysOf(database, organizationId, id)).find(({ record }) => previewLabel(record.id) === label)
  return found?.record.status === 'ready' ? found.record.id : null
}
