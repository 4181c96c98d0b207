/**
 * Deploys of a site. A deploy starts with the digests of its files. The client then sends files that the site does not have. After the last
 * file the deploy is ready. One field of the site selects the active deploy, so that visitors never see a mixture of two deploys.
 */
import { encode, type Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import type { Bytes } from '#store/kv.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import { recordsOf, type PageQuery } from '../../access/principal/lists.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Core } from '../../core.ts'
import { RecentMap } from '../../recent-map.ts'
import { Refusal } from '../../refusals.ts'
import { must, Transaction } from '../../writes/transact.ts'
import type { SiteCredits } from '../metering/site-credits.ts'
import { begunKey, manifestKey, siteDeploys, sites, useKey, wantedCounter, type DeployReport, type Site, type SiteDeploy } from '../site.ts'
import type { Blobs } from './blobs.ts'
import { fileType, isPage } from './content-types.ts'
import { pathsByDigest, requireManifest, type ManifestFile } from './manifest.ts'
import { deployLimits } from './site-path.ts'
import { addStored, begunAt, deploysOf, digestsOf, readManifest, removeDeploy, surplusOf } from './stored-deploys.ts'

export interface NewDeploy {
  readonly files: readonly ManifestFile[]
  /** Activates the deploy as soon as it is ready. */
  readonly activates: boolean
  /** Only for archives: the number of files that are never served. */
  readonly archive?: { readonly ignored: number } | undefined
}

/** A deploy with its missing files. */
export interface OpenDeploy {
  readonly deploy: SiteDeploy
  /** SHA-256 of each missing file, without duplicates. */
  readonly missing: readonly string[]
}

export interface DeploysOptions extends Core {
  readonly blobs: Blobs
  readonly credits: SiteCredits
  readonly reportOf: (organizationId: string, deploy: SiteDeploy) => Promise<DeployReport>
}

/** Maximum number of uploading deploys whose file lists are cached. */
const maxOpen = 16
const shown = encode(1)
const isShown = (value: Bytes): boolean => value.length > 0

export class SiteDeploys {
  readonly #options: DeploysOptions
  readonly #files = new RecentMap<string, ReadonlyMap<string, readonly ManifestFile[]>>(maxOpen)

  constructor(options: DeploysOptions) {
    this.#options = options
  }

  /** Newest first. */
  async list(principal: Principal, siteId: string, query: PageQuery): Promise<Page<SiteDeploy>> {
    const { database } = this.#options
    await must(database, sites, principal, siteId)
    const reach = { organizationId: principal.organizationId }
    const { rows, nextCursor } = recordsOf(await database.list(siteDeploys, reach, { index: 'site', values: [siteId], ...query }))
    return { rows: rows.filter(isShownDeploy), nextCursor }
  }

  /** Throws `not_found`. */
  async get(principal: Principal, siteId: string, id: string): Promise<OpenDeploy> {
    const { record } = await this.#must(principal, siteId, id)
    if (!isShownDeploy(record)) throw new Refusal('not_found', 'No deploy of this site has this id.')
    return { deploy: record, missing: await this.#missing(principal.organizationId, record) }
  }

  /**
   * Starts a deploy. Throws `validation_failed`, and `quota_exceeded` without credit. If the site has too many uploading deploys, the
   * oldest is removed.
   */
  async begin(principal: Principal, siteId: string, { files, activates, archive }: NewDeploy): Promise<OpenDeploy> {
    requireManifest(files)
    const { database, writes, clock, credits } = this.#options
    const { organizationId } = principal
    await must(database, sites, principal, siteId)
    if (!(await credits.hasCredit(organizationId))) throw noCredit()
    const begun = await writes.runAudited(principal, 'site_deploy.created', async (change) => {
      await must(database, sites, principal, siteId)
      const others = await deploysOf(database, organizationId, siteId)
      const open = others.filter(({ record }) => record.status === 'uploading')
      for (const old of open.slice(0, Math.max(0, open.length + 1 - deployLimits.uploading)))
        removeDeploy(change, organizationId, old, clock.now())
      const ready = others.filter(({ record }) => record.status === 'ready')
      const known = await digestsOf(
        database,
        organizationId,
        ready.map(({ record }) => record),
      )
      const now = clock.now()
      const bytes = files.reduce((sum, { size }) => sum + size, 0)
      const deploy: SiteDeploy = {
        ...{ id: database.newId('dpl', now), siteId, status: 'uploading', files: files.length, bytes, report: null, activates },
        ...{ ignored: archive?.ignored ?? 0, createdBy: principal.credentialId, createdAt: now, readyAt: null },
        ...(archive && { isArchive: true as const }),
      }
      return { deploy, missing: addFiles(change, organizationId, deploy, files, known) }
    })
    return begun.missing.length > 0 ? begun : { deploy: await this.#finish(principal, begun.deploy), missing: [] }
  }

  /** Stores the octets of a file; the last file completes the deploy. Throws `not_found` for a digest outside the deploy. */
  async put(principal: Principal, siteId: string, id: string, sha256: string, octets: AsyncIterable<Bytes>): Promise<OpenDeploy> {
    const { organizationId } = principal
    const { record: deploy } = await this.#must(principal, siteId, id)
    const files = (await this.#filesOf(organizationId, id)).get(sha256) ?? []
    if (files.length === 0) throw new Refusal('not_found', 'The deploy has no file with this digest.')
    if (deploy.status === 'uploading') await this.take(organizationId, deploy, files, octets)
    return this.ended(principal, deploy)
  }

  /** Stores the octets of identical files; has no effect if they are already stored. */
  async take(organizationId: string, deploy: SiteDeploy, files: readonly ManifestFile[], octets: AsyncIterable<Bytes>): Promise<void> {
    const { database, blobs } = this.#options
    const [{ sha256, size } = { sha256: '', size: 0 }] = files
    const use = useKey(organizationId, sha256, deploy.id)
    const traits = {
      isPage: files.some(({ path }) => isPage(path)),
      isCompressible: files.some(({ path }) => fileType(path).isCompressible),
    }
    const blob = await blobs.write(organizationId, { sha256, size }, traits, octets)
    let isTaken = false
    try {
      for (;;) {
        const row = await database.kv.get(pack(use))
        if (!row || isShown(row.value)) return
        const stored = await database.get(siteDeploys, { organizationId }, deploy.id)
        if (!stored) throw new Refusal('not_found', 'No deploy has this id.')
        const change = new Transaction(database, { organizationId })
        change.checkRecord(siteDeploys, organizationId, stored)
        change.check(use, row.version).set(use, shown).add(wantedCounter(organizationId, deploy.id), -1)
        const isKnown = (await blobs.find(organizationId, sha256)) !== undefined
        if (!isKnown) blob.add(change)
        if (!(await database.commit(change)).ok) continue
        isTaken = !isKnown
        return
      }
    } finally {
      await blob.settle(isTaken)
    }
  }

  /** Returns the deploy, and completes it if no file is missing. */
  async ended(principal: Principal, { siteId, id }: SiteDeploy): Promise<OpenDeploy> {
    const { database } = this.#options
    const { record } = await this.#must(principal, siteId, id)
    if (record.status === 'ready') return { deploy: record, missing: [] }
    if ((await database.kv.counter(pack(wantedCounter(principal.organizationId, id)))) > 0) {
      return { deploy: record, missing: [] } // the response to the last file returns the ready deploy
    }
    return { deploy: await this.#finish(principal, record), missing: [] }
  }

  /** Activates the deploy for visitors. Throws `conflict` if files are missing. */
  async activate(principal: Principal, siteId: string, id: string): Promise<SiteDeploy> {
    const { database, writes, clock } = this.#options
    await this.ended(principal, (await this.#must(principal, siteId, id)).record)
    return writes.runAudited(
      principal,
      'site.deploy_activated',
      async (change) => {
        const site = await must(database, sites, principal, siteId)
        const { record } = await this.#must(principal, siteId, id)
        if (record.status !== 'ready') throw new Refusal('conflict', 'Files of this deploy are missing; send them first.')
        if (site.record.activeDeployId !== id) activateIn(change, principal.organizationId, site, id, clock.now())
        return record
      },
      { deploy_id: id },
    )
  }

  /** Throws `conflict` for the active deploy. */
  remove(principal: Principal, siteId: string, id: string): Promise<void> {
    const { database, writes, clock } = this.#options
    const { organizationId } = principal
    return writes.runAudited(principal, 'site_deploy.deleted', async (change) => {
      const site = await must(database, sites, principal, siteId)
      if (site.record.activeDeployId === id) throw new Refusal('conflict', 'This deploy is active; activate another deploy first.')
      const stored = await this.#must(principal, siteId, id)
      removeDeploy(change, organizationId, stored, clock.now())
      const left = (await deploysOf(database, organizationId, siteId)).filter(({ record }) => record.id !== id)
      await addStored({ database, change, nowMs: clock.now() }, { organizationId, siteId }, readyOf(left))
    })
  }

  async #finish(principal: Principal, { siteId, id }: SiteDeploy): Promise<SiteDeploy> {
    const { database, writes, clock, reportOf } = this.#options
    const { organizationId } = principal
    const report = await reportOf(organizationId, (await this.#must(principal, siteId, id)).record)
    return writes.runAudited(principal, 'site_deploy.finished', async (change) => {
      const site = await must(database, sites, principal, siteId)
      const stored = await this.#must(principal, siteId, id)
      if (stored.record.status === 'ready') return stored.record
      const now = clock.now()
      const deploy: SiteDeploy = { ...stored.record, status: 'ready', report, readyAt: now }
      change
        .replace(siteDeploys, organizationId, stored, deploy)
        .delete(begunKey(begunAt(deploy), organizationId, id))
        .delete(wantedCounter(organizationId, id))
      if (deploy.activates) activateIn(change, organizationId, site, id, now)
      const others = (await deploysOf(database, organizationId, siteId)).filter(
        ({ record }) => record.id !== id && record.status === 'ready',
      )
      const surplus = surplusOf([...others, stored], deploy.activates ? id : site.record.activeDeployId)
      for (const old of surplus) if (old.record.id !== id) removeDeploy(change, organizationId, old, now)
      const kept = others.filter((other) => !surplus.includes(other)).map(({ record }) => record)
      await addStored({ database, change, nowMs: now }, { organizationId, siteId }, [...kept, deploy])
      return deploy
    })
  }

  /** Returns files by digest. Cached, because each uploaded file needs the list; file lists never change. */
  async #filesOf(organizationId: string, id: string): Promise<ReadonlyMap<string, readonly ManifestFile[]>> {
    const known = this.#files.get(id)
    if (known) return known
    const files = Map.groupBy(await readManifest(this.#options.database, organizationId, id), ({ sha256 }) => sha256)
    this.#files.set(id, files)
    return files
  }

  async #missing(organizationId: string, { id, status }: SiteDeploy): Promise<readonly string[]> {
    const { database } = this.#options
    if (status === 'ready') return []
    const digests = [...pathsByDigest(await readManifest(database, organizationId, id)).keys()]
    const rows = await database.kv.getMany(digests.map((sha256) => pack(useKey(organizationId, sha256, id))))
    return digests.filter((_, i) => !isShown(rows[i]?.value ?? Buffer.alloc(0)))
  }

  async #must(principal: Principal, siteId: string, id: string): Promise<Stored<SiteDeploy>> {
    const { database } = this.#options
    await must(database, sites, principal, siteId)
    const stored = await database.get(siteDeploys, { organizationId: principal.organizationId }, id)
    if (stored?.record.siteId !== siteId) throw new Refusal('not_found', 'No deploy of this site has this id.')
    return stored
  }
}

const isShownDeploy = ({ status, isArchive }: SiteDeploy): boolean => status === 'ready' || !isArchive

const readyOf = (stored: readonly Stored<SiteDeploy>[]): SiteDeploy[] =>
  stored.flatMap(({ record }) => (record.status === 'ready' ? [record] : []))

function activateIn(change: Change, organizationId: string, site: Stored<Site>, deployId: string, nowMs: number): void {
  change.replace(sites, organizationId, site, { ...site.record, activeDeployId: deployId, updatedAt: nowMs })
}

/** Adds the deploy and its files. Returns the digests that the site does not have. */
function addFiles(
  change: Change,
  organizationId: string,
  deploy: SiteDeploy,
  files: readonly ManifestFile[],
  known: ReadonlyMap<string, number>,
): string[] {
  const digests = [...pathsByDigest(files).keys()]
  const missing = digests.filter((sha256) => !known.has(sha256))
  change.insert(siteDeploys, organizationId, deploy)
  change.set(manifestKey(organizationId, deploy.id), encode(files.map(({ path, sha256, size }) => [path, sha256, size])))
  for (const sha256 of digests) change.set(useKey(organizationId, sha256, deploy.id), known.has(sha256) ? shown : undefined)
  change.set(begunKey(begunAt(deploy), organizationId, deploy.id)).add(wantedCounter(organizationId, deploy.id), missing.length)
  return missing
}

const noCredit = (): Refusal =>
  new Refusal('quota_exceeded', 'The organization has no credits left for websites; add credits, then deploy again.', {
    nextAction: 'buy_credits',
  })
