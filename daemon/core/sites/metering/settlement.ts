/**
 * Settles the usage of sites: one write moves counted traffic and storage from the site to a charge of credits. A crash therefore neither
 * loses nor repeats usage.
 */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import { allOrganizations } from '../../tenancy/organization-list.ts'
import { owedKey, sites, siteUsages, unsettledCounter } from '../site.ts'
import type { SiteCredits } from './site-credits.ts'
import { byteMsUntil } from './stored-bytes.ts'

interface SettlementWork {
  readonly database: Database
  readonly settle: NonNullable<SiteCredits['settle']>
  readonly nowMs: number
  readonly stopping: () => boolean
}

/** Interval of settlements of storage and traffic; larger amounts of traffic are settled earlier. */
export const settledEveryMs = 3_600_000
const soonBytes = 1_048_576
/** Maximum number of attempts of a settlement that conflicts with other writes. */
const maxTries = 5

/** Settles the traffic of sites with at least `soonBytes` since the last settlement. */
export async function settleTraffic(work: SettlementWork): Promise<void> {
  for await (const { key } of work.database.kv.range(within(owedKey()))) {
    if (work.stopping()) return
    const [, , organizationId, siteId] = unpack(key).map(String)
    if (organizationId === undefined || siteId === undefined) continue
    const owed = await work.database.kv.counter(pack(unsettledCounter(organizationId, siteId)))
    if (owed >= soonBytes) await settle(work, organizationId, siteId)
  }
}

/** Settles all sites whose last settlement is at least an hour ago. */
export async function settleStored(work: SettlementWork): Promise<void> {
  for await (const { id } of allOrganizations(work.database)) {
    for (const { record } of await work.database.all(siteUsages, { organizationId: id })) {
      if (work.stopping()) return
      const isGone = (await work.database.get(sites, { organizationId: id }, record.id)) === undefined
      if (isGone || work.nowMs - record.since >= settledEveryMs) await settle(work, id, record.id)
    }
  }
}

async function settle({ database, settle: charge, nowMs }: SettlementWork, organizationId: string, siteId: string): Promise<void> {
  const key = unsettledCounter(organizationId, siteId)
  for (let tries = 0; tries < maxTries; tries++) {
    const row = await database.kv.get(pack(owedKey(organizationId, siteId)))
    const usage = await database.get(siteUsages, { organizationId }, siteId)
    if (!usage) return void (await database.commit(new Change().delete(owedKey(organizationId, siteId))))
    const trafficBytes = await database.kv.counter(pack(key))
    const storedByteMs = byteMsUntil(usage.record, nowMs)
    const isGone = (await database.get(sites, { organizationId }, siteId)) === undefined
    const change = new Change()
    if (row) change.check(owedKey(organizationId, siteId), row.version).delete(owedKey(organizationId, siteId))
    await charge(change, { organizationId, siteId, trafficBytes, storedByteMs, untilMs: nowMs })
    if (isGone) change.remove(siteUsages, organizationId, usage).delete(key)
    else {
      change.replace(siteUsages, organizationId, usage, { ...usage.record, since: Math.max(usage.record.since, nowMs), byteMs: '0' })
      if (trafficBytes > 0) change.add(key, -trafficBytes)
    }
    if ((await database.commit(change)).ok) return
  }
}
