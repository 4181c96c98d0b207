/** Stored deploys: their files, the limit on their number, and the storage of a site. */
import type { Change } from '#store/change.ts'
import { decode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import { begunKey, leftoversKey, manifestKey, siteDeploys, siteUsages, siteWork, wantedCounter, type SiteDeploy } from '../site.ts'
import { storedFromNow } from '../metering/stored-bytes.ts'
import type { ManifestFile } from './manifest.ts'
import { deployLimits } from './site-path.ts'

/** Files of a removed deploy remain for this time, for responses in progress. */
export const graceMs = 60_000

/** Maximum duration of an upload. An archive is uploaded within one request and has a shorter limit. */
export const longestUploadMs = 86_400_000
const longestArchiveMs = 900_000

/** Returns the start time of a deploy for the sweep, shifted for archives so that they expire earlier. */
export const begunAt = ({ createdAt, isArchive }: Pick<SiteDeploy, 'createdAt' | 'isArchive'>): number =>
  isArchive ? createdAt - longestUploadMs + longestArchiveMs : createdAt

/** Returns the files of a deploy; empty if the deploy was removed. */
export async function readManifest(database: Database, organizationId: string, deployId: string): Promise<readonly ManifestFile[]> {
  const entry = await database.kv.get(pack(manifestKey(organizationId, deployId)))
  return entry ? decode<[string, string, number][]>(entry.value).map(([path, sha256, size]) => ({ path, sha256, size })) : []
}

/** Returns all deploys of a site, oldest first. */
export async function deploysOf(database: Database, organizationId: string, siteId: string): Promise<Stored<SiteDeploy>[]> {
  const { rows } = await database.list(
    siteDeploys,
    { organizationId },
    { index: 'site', values: [siteId], limit: 1000, ascending: true, forWork: true },
  )
  return [...rows]
}

/** Returns the digests of the deploys with their sizes. */
export async function digestsOf(database: Database, organizationId: string, deploys: readonly SiteDeploy[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  for (const { id } of deploys) {
    for (const { sha256, size } of await readManifest(database, organizationId, id)) sizes.set(sha256, size)
    await new Promise(setImmediate)
  }
  return sizes
}

/** Adds to the write the storage of the site, computed from exactly these deploys. */
export async function addStored(
  { database, change, nowMs }: { readonly database: Database; readonly change: Change; readonly nowMs: number },
  { organizationId, siteId }: { readonly organizationId: string; readonly siteId: string },
  deploys: readonly SiteDeploy[],
): Promise<void> {
  const usage = await database.get(siteUsages, { organizationId }, siteId)
  if (!usage) return
  let bytes = 0
  for (const size of (await digestsOf(database, organizationId, deploys)).values()) bytes += size
  change.replace(siteUsages, organizationId, usage, storedFromNow(usage.record, bytes, nowMs))
}

/** Returns the ready deploys to remove: all except the newest and the active deploy. */
export function surplusOf(ready: readonly Stored<SiteDeploy>[], activeDeployId: string | null): readonly Stored<SiteDeploy>[] {
  const old = ready.slice(0, Math.max(0, ready.length - deployLimits.kept))
  return old.filter(({ record }) => record.id !== activeDeployId)
}

/** Removes a deploy; its files are removed later, unless another deploy uses them. */
export function removeDeploy(change: Change, organizationId: string, stored: Stored<SiteDeploy>, nowMs: number): void {
  const { id } = stored.record
  change
    .remove(siteDeploys, organizationId, stored)
    .delete(begunKey(begunAt(stored.record), organizationId, id))
    .delete(wantedCounter(organizationId, id))
    .set(leftoversKey(nowMs + graceMs, organizationId, id))
    .schedule(siteWork, id)
}
