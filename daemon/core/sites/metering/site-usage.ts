/** Usage of a site for display: octets sent on each day, and storage of its deploys. */
import { creditPrices } from '#config/plans/credits.ts'
import { pack } from '#store/tuple.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Core } from '../../core.ts'
import { must } from '../../writes/transact.ts'
import { answersCounter, sites, siteUsages, trafficCounter } from '../site.ts'
import { dayOf } from './site-traffic.ts'

export interface SiteDay {
  readonly day: string
  readonly trafficBytes: number
  readonly answers: number
}

export interface SiteUsage {
  readonly siteId: string
  readonly storedBytes: number
  /** Sum over `days`. */
  readonly trafficBytes: number
  readonly answers: number
  readonly days: readonly SiteDay[]
  /** Cost of one day at the rate of these days. */
  readonly creditsPerDayUcr: number
}

const dayMs = 86_400_000

export class SiteUsages {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Returns the usage of the last `days` days including today (UTC). Throws `not_found`. */
  async read(principal: Principal, siteId: string, days: number): Promise<SiteUsage> {
    const { database, clock } = this.#core
    const { organizationId } = principal
    const { createdAt } = (await must(database, sites, principal, siteId)).record
    const usage = await database.get(siteUsages, { organizationId }, siteId)
    const now = clock.now()
    const names = Array.from({ length: days }, (_, i) => dayOf(now - (days - 1 - i) * dayMs))
    const counted = await Promise.all(
      names.map(async (day) => ({
        day,
        trafficBytes: await database.kv.counter(pack(trafficCounter(organizationId, siteId, day))),
        answers: await database.kv.counter(pack(answersCounter(organizationId, siteId, day))),
      })),
    )
    const sum = (of: 'trafficBytes' | 'answers'): number => counted.reduce((total, day) => total + day[of], 0)
    const [storedBytes, trafficBytes] = [usage?.record.storedBytes ?? 0, sum('trafficBytes')]
    const begin = Math.max(createdAt, Math.floor(now / dayMs - (days - 1)) * dayMs)
    return {
      ...{ siteId, storedBytes, trafficBytes, answers: sum('answers'), days: counted },
      creditsPerDayUcr: creditsPerDayUcr(trafficBytes, storedBytes, Math.max(dayMs, now - begin)),
    }
  }
}

/** `spanMs` is the duration of the traffic. */
function creditsPerDayUcr(trafficBytes: number, storedBytes: number, spanMs: number): number {
  const { traffic, storage } = creditPrices
  const day = BigInt(dayMs)
  const sent = (BigInt(trafficBytes) * day * traffic.ucr) / (BigInt(spanMs) * traffic.units)
  return Number(sent + (BigInt(storedBytes) * day * storage.ucr) / storage.units)
}
