/**
 * Deploys of a site. One begins with the digests of its files; those that the site has not shown before are sent; with the last of them
 * it is whole. Which deploy visitors get is one field of the site, so that they get all of one or all of another.
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
  /** Visitors get it as soon as it is whole. */
  readonly activates: boolean
  /** Of an archive: how many of its files are never served. */
  readonly archive?: { readonly ignored: number } | undefined
}

/** A deploy with what is still to be sent. */
export interface OpenDeploy {
  readonly deploy: SiteDeploy
  /** SHA-256 of each file, once. */
  readonly missing: readonly string[]
}

export interface DeploysOptions extends Core {
  readonly blobs: Blobs
  readonly credits: SiteCredits
  readonly reportOf: (organizationId: string, deploy: SiteDeploy) => Promise<DeployReport>
}

/** Deploys on their way whose files are in memory. */
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

  /** Throws `validation_failed`, `quota_exceeded` without credit. The oldest of too many that are on their way gives way. */
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

  /** Takes the octets of a file; with the last one, the deploy is whole. Throws `not_found` for a digest that the deploy has not. */
  async put(principal: Principal, siteId: string, id: string, sha256: string, octets: AsyncIterable<Bytes>): Promise<OpenDeploy> {
    const { organizationId } = principal
    const { record: deploy } = await this.#must(principal, siteId, id)
    const files = (await this.#filesOf(organizationId, id)).get(sha256) ?? []
    if (files.length === 0) throw new Refusal('not_found', 'The deploy has no file with this digest.')
    if (deploy.status === 'uploading') await this.take(organizationId, deploy, files, octets)
    return this.ended(principal, deploy)
  }

  /** Takes the octets of files that are alike; nothing happens where they are there. */
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

  /** The deploy, whole where nothing is missing any more. */
  async ended(principal: Principal, { siteId, id }: SiteDeploy): Promise<OpenDeploy> {
    const { database } = this.#options
    const { record } = await this.#must(principal, siteId, id)
    if (record.status === 'ready') return { deploy: record, missing: [] }
    if ((await database.kv.counter(pack(wantedCounter(principal.organizationId, id)))) > 0) {
      return { deploy: record, missing: [] } // the answer to the last file has it whole
    }
    return { deploy: await this.#finish(principal, record), missing: [] }
  }

  /** Visitors get it from now on. Throws `conflict` for one that is not whole. */
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

  /** Throws `conflict` for the one that visitors get. */
  remove(principal: Principal, siteId: string, id: string): Promise<void> {
    const { database, writes, clock } = this.#options
    const { organizationId } = principal
    return writes.runAudited(principal, 'site_deploy.deleted', async (change) => {
      const site = await must(database, sites, principal, siteId)
      if (site.record.activeDeployId === id) throw new Refusal('conflict', 'Visitors get this deploy; activate another one first.')
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

  /** By digest, kept as a deploy of many files is asked for with each of them. Lists of files do not change. */
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

/** Adds the deploy and its files. Returns the digests that the site has not shown that it has. */
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
  new Refusal('quota_exceeded', 'The organization has no credit left for websites; new deploys wait until it has.', {
    nextAction: 'buy_credits',
  })
