/** Reports of bounce sources within the last day, for all sources and for one. */
import type { JSX } from 'preact'
import { firstOf, mostFigures, useRead } from '../app/query.ts'
import { number } from '../parts/time.ts'
import type { IngestSourceInsight } from '../wire/api.d.ts'
import { texts } from './sources-texts.ts'

const refreshMs = 30_000
const types = ['bounced', 'complained', 'deferred', 'delivered', 'unreadable'] as const

export type DayTotals = IngestSourceInsight['data'][number]['totals']

/** Returns totals by source id. Undefined while loading. A source without reports has zeros. */
export function useLastDay(): ((id: string) => DayTotals) | undefined {
  const { data: read } = useRead('/v1/insights/ingest-sources', firstOf(mostFigures, { query: { step_seconds: 10_800 } }), {
    every: refreshMs,
  })
  if (!read) return undefined
  const byId = new Map(read.data.map((one) => [one.source_id, one.totals]))
  return (id) => byId.get(id) ?? none
}

const none: DayTotals = { bounced: 0, complained: 0, deferred: 0, delivered: 0, unreadable: 0 }

export const reportsOf = (totals: DayTotals): number => types.reduce((sum, type) => sum + totals[type], 0)

/** Formats `12 bounced · 1 complained`, without zero counts. */
export const dayText = (totals: DayTotals): string =>
  types
    .filter((type) => totals[type] > 0)
    .map((type) => `${number(totals[type])} ${type}`)
    .join(' · ')

export function LastDay({ id }: { readonly id: string }): JSX.Element | null {
  const w = texts()
  const totals = useLastDay()?.(id)
  if (!totals) return null
  return (
    <>
      <h2 class="hidden">{w.lastDay}</h2>
      <dl class="ledger follows" aria-label={w.lastDay}>
        {types
          .filter((type) => type !== 'unreadable' || totals.unreadable > 0)
          .map((type) => (
            <div key={type}>
              <dt>{w.inLastDay({ type })}</dt>
              <dd>
                <b class={totals[type] > 0 && type === 'complained' ? 'bad' : ''}>{number(totals[type])}</b>
              </dd>
            </div>
          ))}
      </dl>
    </>
  )
}
