/** Removes leftovers of deploys and sites: files without a deploy, unfinished deploys, and traffic counters. */
import { Change } from '#store/change.ts'
import { contentRowKey } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import type { SettingWrites } from '../../writes/setting-writes.ts'
import { dayOf } from '../metering/site-traffic.ts'
import {
  answersCounter,
  begunKey,
  leftoversKey,
  manifestKey,
  owedKey,
  siteBlobs,
  siteDeploys,
  siteUsages,
  trafficCounter,
  unsettledCounter,
  useKey,
} from '../site.ts'
import { contentsOfBlob } from './blobs.ts'
import { longestUploadMs, readManifest, removeDeploy } from './stored-deploys.ts'

export interface SweepWork {
  readonly database: Database
  readonly writes: Pick<SettingWrites, 'run'>
  readonly nowMs: number
  readonly stopping: () => boolean
}

const batch = 100
const dayMs = 86_400_000

export async function sweepSites(work: SweepWork): Promise<void> {
  await endStale(work)
  const { start } = within(leftoversKey())
  for await (const { key } of work.database.kv.range({ start, end: pack(leftoversKey(work.nowMs + 1)) })) {
    if (work.stopping()) return
    const [, , at, organizationId, id] = unpack(key)
    if (String(id).startsWith('sit_')) await removeCounts(work, String(organizationId), String(id))
    else if (!(await removeFiles(work, String(organizationId), String(id)))) return
    await work.database.commit(new Change().delete(leftoversKey(Number(at), String(organizationId), String(id))))
  }
}

/** Removes deploys whose upload timed out. */
async function endStale({ database, writes, nowMs, stopping }: SweepWork): Promise<void> {
  const { start } = within(begunKey())
  for await (const { key } of database.kv.range({ start, end: pack(begunKey(nowMs - longestUploadMs)) })) {
    if (stopping()) return
    const [, , at, organizationId, id] = unpack(key)
    await writes.run(String(organizationId), async (change) => {
      const stored = await database.get(siteDeploys, { organizationId: String(organizationId) }, String(id))
      if (stored?.record.status === 'uploading') removeDeploy(change, String(organizationId), stored, nowMs)
      else change.delete(begunKey(Number(at), String(organizationId), String(id)))
    })
  }
}

/** Returns false if it was stopped early. */
async function removeFiles({ database, writes, stopping }: SweepWork, organizationId: string, deployId: string): Promise<boolean> {
  const digests = [...new Set((await readManifest(database, organizationId, deployId)).map(({ sha256 }) => sha256))]
  for (let at = 0; at < digests.length; at += batch) {
    if (stopping()) return false
    // serialized per organization, so that no deploy starts to use a file during this decision
    await writes.run(organizationId, async (change) => {
      for (const sha256 of digests.slice(at, at + batch)) {
        change.delete(useKey(organizationId, sha256, deployId))
        if (!(await isUsedElsewhere(database, organizationId, sha256, deployId))) await removeBlob(database, change, organizationId, sha256)
      }
    })
  }
  await database.commit(new Change().delete(manifestKey(organizationId, deployId)))
  return true
}

async function isUsedElsewhere(database: Database, organizationId: string, sha256: string, deployId: string): Promise<boolean> {
  const uses = database.kv.range({ ...within(useKey(organizationId, sha256)), limit: 2, keysOnly: true })
  for await (const { key } of uses) if (unpack(key).at(-1) !== deployId) return true
  return false
}

async function removeBlob(database: Database, change: Change, organizationId: string, sha256: string): Promise<void> {
  const stored = await database.get(siteBlobs, { organizationId }, sha256)
  if (!stored) return
  change.remove(siteBlobs, organizationId, stored)
  for (const { id, rows } of contentsOfBlob(stored.record))
    for (let row = 0; row < rows; row++) change.delete(contentRowKey(organizationId, id, row))
}

/** Removes the daily counters of a deleted site, from its creation to tomorrow. The site id contains the time of creation. */
async function removeCounts({ database, nowMs }: SweepWork, organizationId: string, siteId: string): Promise<void> {
  const change = new Change()
  for (let at = Number.parseInt(siteId.slice(4, 16), 16); at <= nowMs + dayMs; at += dayMs)
    change.delete(trafficCounter(organizationId, siteId, dayOf(at))).delete(answersCounter(organizationId, siteId, dayOf(at)))
  if (!(await database.get(siteUsages, { organizationId }, siteId)))
    change.delete(unsettledCounter(organizationId, siteId)).delete(owedKey(organizationId, siteId))
  await database.commit(change)
}
