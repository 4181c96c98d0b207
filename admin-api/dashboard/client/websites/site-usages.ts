/** Usage of websites, and how long the credits last at that rate. */
import { useEffect, useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import type { Credits, Site, SiteUsage } from '../wire/api.d.ts'
import { texts } from './websites-texts.ts'

export type SiteUsages = ReadonlyMap<string, SiteUsage>

/** Maximum number of parallel requests. */
const atOnce = 4

/** Returns usage by site id. Entries appear as their responses arrive. */
export function useSiteUsages(sites: readonly Site[] | undefined): SiteUsages {
  const [usages, setUsages] = useState<SiteUsages>(new Map())
  const key = sites?.map(({ id }) => id).join(' ') ?? ''
  useEffect(() => {
    const aborter = new AbortController()
    const ids = key === '' ? [] : key.split(' ')
    const waiting = ids.values()
    const read = async (): Promise<void> => {
      for (const id of waiting) {
        const usage = await call('/v1/sites/{id}/usage', { path: { id } }, { signal: aborter.signal }).catch(() => undefined)
        if (aborter.signal.aborted) return
        if (usage) setUsages((before) => new Map(before).set(id, usage))
      }
    }
    for (let i = 0; i < atOnce; i += 1) void read()
    return () => aborter.abort()
  }, [key])
  return usages
}

/** Returns the daily total. Undefined until every site is loaded. */
export function perDayOf(sites: readonly Site[], usages: SiteUsages): number | undefined {
  const known = sites.flatMap(({ id }) => usages.get(id) ?? [])
  return known.length < sites.length ? undefined : known.reduce((sum, one) => sum + Number(one.credits_per_day), 0)
}

const mostDays = 365

/** Returns as text how long the credits last. */
export function lasting({ balance_credits: balance, is_unlimited: isUnlimited }: Credits, perDay: number): string {
  const w = texts()
  if (isUnlimited) return w.byContract
  if (Number(balance) <= 0) return w.used
  if (perDay === 0) return w.noUse
  const days = Math.floor(Number(balance) / perDay)
  return days > mostDays ? w.moreThanYear : w.days({ n: days })
}
