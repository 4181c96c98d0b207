/** Checks of `postern verify` for sites: each deploy has its site and all its files, and each file has a deploy. */
import type { ContentRef } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { pack, unpack, within, type Element } from '#store/tuple.ts'
import type { VerifyOptions } from '#store/verify/verify.ts'
import { contentsOfBlob, digestOf } from './deploys/blobs.ts'
import { readManifest } from './deploys/stored-deploys.ts'
import {
  leftoversKey,
  manifestKey,
  siteBlobs,
  siteDeploys,
  sites,
  siteUsages,
  useKey,
  type Site,
  type SiteBlob,
  type SiteDeploy,
} from './site.ts'

export const siteKinds = [sites, siteDeploys, siteBlobs, siteUsages] as const

/** Returns the problems of a record of these kinds, one sentence each; undefined for records of other kinds. */
export async function siteDisagreements(
  database: Database,
  kind: string,
  organizationId: string,
  record: unknown,
): Promise<string[] | undefined> {
  const reach = { organizationId }
  if (kind === sites.name) {
    const { activeDeployId: id } = record as Site
    const active = id === null ? undefined : await database.get(siteDeploys, reach, id)
    return id === null || active?.record.status === 'ready' ? [] : ['the active deploy is missing']
  }
  if (kind === siteBlobs.name) return usesOf(database, organizationId, record as SiteBlob)
  if (kind !== siteDeploys.name) return kind === siteUsages.name ? [] : undefined
  const { id, siteId, status } = record as SiteDeploy
  const problems = (await database.get(sites, reach, siteId)) ? [] : ['its site is missing']
  const files = await readManifest(database, organizationId, id)
  if (files.length === 0) problems.push('its list of files is missing')
  if (status === 'uploading') return problems
  const digests = [...new Set(files.map(({ sha256 }) => sha256))]
  const blobs = await database.getMany(siteBlobs, reach, digests)
  const missing = digests.find((_, i) => blobs[i] === undefined)
  return missing === undefined ? problems : [...problems, `its file ${missing} is missing`]
}

async function usesOf(database: Database, organizationId: string, { id }: SiteBlob): Promise<string[]> {
  for await (const _use of database.kv.range({ ...within(useKey(organizationId, id)), limit: 1, keysOnly: true })) return []
  return ['no deploy has it']
}

/** Returns the content with this id if a file of a site uses it. */
export async function siteContentOf(database: Database, organizationId: string, contentId: string): Promise<ContentRef | undefined> {
  const sha256 = digestOf(contentId)
  const stored = sha256 === undefined ? undefined : await database.get(siteBlobs, { organizationId }, sha256)
  return stored && contentsOfBlob(stored.record).find(({ id }) => id === contentId)
}

/** Checks rows of sites. Rows of a removed deploy remain until its files are removed. */
export const siteRows = (database: Database): Required<VerifyOptions>['families'] => [
  { name: 'site.manifest', check: ([organizationId, , id]) => checkDeploy(database, String(organizationId), String(id)) },
  { name: 'site.use', check: ([organizationId, , , id]) => checkDeploy(database, String(organizationId), String(id)) },
  ...['site.leftovers', 'site.begun', 'site.owed'].map((name) => ({ name, global: true as const })),
]

async function checkDeploy(database: Database, organizationId: string, id: string): Promise<string[]> {
  if (await database.get(siteDeploys, { organizationId }, id)) return []
  for await (const { key } of database.kv.range(within(leftoversKey()))) {
    const [, , , owner, left]: readonly Element[] = unpack(key)
    if (owner === organizationId && left === id) return []
  }
  return (await database.kv.get(pack(manifestKey(organizationId, id))))
    ? ['its deploy is missing']
    : ['its deploy is missing, with its files']
}
