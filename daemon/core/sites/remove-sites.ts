/** Removes sites with all their data: deleted sites, and sites of a deleted project. Uses small writes and can stop between them. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { deploysOf, removeDeploy } from './deploys/stored-deploys.ts'
import { storedFromNow } from './metering/stored-bytes.ts'
import { leftoversKey, sites, siteUsages, siteWork, type Site, type SiteDeploy } from './site.ts'

/** Dependencies of the removal. `stopping` is called between two writes. */
interface RemovalWork {
  readonly database: Database
  readonly nowMs: number
  readonly stopping: () => boolean
}

/** Longer than any response in progress, whose octets are counted when it ends. */
const countsKeptMs = 86_400_000

/** Adds the removal to a write. Usage is settled later; traffic counts are removed after `countsKeptMs`. */
export async function removeSite(
  { database, nowMs }: Pick<RemovalWork, 'database' | 'nowMs'>,
  change: Change,
  organizationId: string,
  stored: Stored<Site>,
  deploys: readonly Stored<SiteDeploy>[],
): Promise<void> {
  const { id } = stored.record
  for (const deploy of deploys) removeDeploy(change, organizationId, deploy, nowMs)
  const usage = await database.get(siteUsages, { organizationId }, id)
  if (usage) change.replace(siteUsages, organizationId, usage, storedFromNow(usage.record, 0, nowMs))
  change.set(leftoversKey(nowMs + countsKeptMs, organizationId, id)).schedule(siteWork, id)
  change.remove(sites, organizationId, stored)
}

export async function removeSites(work: RemovalWork, organizationId: string, projectId: string): Promise<void> {
  const { database, stopping } = work
  while (!stopping()) {
    const { rows } = await database.list(sites, { organizationId }, { index: 'project', values: [projectId], limit: 1, forWork: true })
    const [stored] = rows
    if (!stored) return
    const change = new Change()
    await removeSite(work, change, organizationId, stored, await deploysOf(database, organizationId, stored.record.id))
    await database.commit(change)
  }
}
