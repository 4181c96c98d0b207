/** Background work for sites by one daemon: removes leftovers and settles usage. */
import type { Core } from '../core.ts'
import { TimedRounds } from '../work-loop.ts'
import { sweepSites } from './deploys/sweep.ts'
import { settledEveryMs, settleStored, settleTraffic } from './metering/settlement.ts'
import type { SiteCredits } from './metering/site-credits.ts'
import { siteWork } from './site.ts'

export interface SiteUpkeepOptions extends Core {
  readonly credits: SiteCredits
  readonly onError: (error: unknown) => void
}

/** Short enough to detect exhausted credit within ten seconds. */
const everyMs = 5000

export function siteUpkeep(options: SiteUpkeepOptions): TimedRounds {
  const { database, writes, clock, credits } = options
  let settledAt: number | undefined
  const round = async (stopping: () => boolean): Promise<void> => {
    const base = { database, writes, nowMs: clock.now(), stopping }
    await sweepSites(base)
    if (!credits.settle) return
    const work = { ...base, settle: credits.settle }
    await settleTraffic(work)
    if (settledAt !== undefined && work.nowMs - settledAt < settledEveryMs / 6) return
    await settleStored(work)
    settledAt = work.nowMs
  }
  return new TimedRounds({ ...options, everyMs, round, listen: (wake) => database.onWork(siteWork, wake) })
}
