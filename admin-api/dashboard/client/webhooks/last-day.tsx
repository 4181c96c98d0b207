/** Webhook deliveries of the last day, by endpoint and in total. */
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { signal } from '@preact/signals'
import { percentFrom } from '#config/watch/limits.ts'
import { useChanges } from '../app/live.ts'
import { linkHere, projectId } from '../app/location.ts'
import { firstOf, mostFigures, useRead } from '../app/query.ts'
import { HealthStrip, lastDay, type Health } from '../health/health-strip.tsx'
import { useInsight, useSpan } from '../insights/reading.tsx'
import { rate } from '../health/rate.ts'
import { number, percent, span } from '../parts/time.ts'
import type { Answer } from '../wire/route.ts'
import { texts as own } from './webhooks-texts.ts'

const dayMs = 86_400_000
const refreshMs = 30_000

export interface DayTotals {
  readonly succeeded: number
  readonly failed: number
  readonly parked: number
  readonly p50_ms: number | null
  readonly p95_ms: number | null
}

function useDay(): { readonly from: string; readonly to: string } {
  const [now] = useState(() => Date.now())
  return { from: new Date(now - dayMs).toISOString(), to: new Date(now).toISOString() }
}

type Day = Answer<'/v1/insights/webhook-endpoints'>['data'][number]

/** The last day by endpoint id, for the cells of the list. Undefined until it is read. */
export const daysShown = signal<ReadonlyMap<string, Day> | undefined>(undefined)

/** Reads the last day by endpoint id. Omits endpoints without attempts. */
export function useDays(): ReadonlyMap<string, Day> | undefined {
  const { data } = useInsight('/v1/insights/webhook-endpoints', lastDay(useSpan().now), { first: mostFigures })
  return useMemo(() => data && new Map(data.data.map((day) => [day.endpoint_id, day])), [data])
}

const nothing: DayTotals = { succeeded: 0, failed: 0, parked: 0, p50_ms: null, p95_ms: null }

/** Returns the share of successful attempts. */
export function successOf({ succeeded, failed }: DayTotals): string {
  const all = succeeded + failed
  return all < percentFrom ? rate(succeeded, all) : percent(Math.floor((succeeded / all) * 1000) / 1000, 1)
}

/** Totals of all displayed endpoints. */
export function useDayTotals(): { readonly totals: DayTotals | undefined; readonly isLoading: boolean } {
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const { data, state } = useRead('/v1/insights/webhooks', { query: { ...useDay(), ...project } }, { every: refreshMs })
  return { totals: data?.totals, isLoading: data === undefined && state === 'loading' }
}

export const totalsOf = (day: Day | undefined): DayTotals => day?.totals ?? nothing

/** Returns the day of an endpoint as a health strip shows it. */
export const healthOfDay = (id: string, day: Day | undefined): Health => ({
  ...{ destination_id: id, totals: healthOf(totalsOf(day)) },
  points: (day?.points ?? []).map(({ at, ...counts }) => ({ at, ...healthOf(counts) })),
})

/** The last day of an endpoint, and its currently waiting and parked deliveries. */
export function EndpointDay({ id }: { readonly id: string }): JSX.Element | null {
  const w = own()
  const day = useInsight('/v1/insights/webhook-endpoints', lastDay(useSpan().now), { first: mostFigures }).data
  const [waiting, parked] = [useCount(id, 'failed'), useCount(id, 'parked')]
  if (!day) return null
  const one = day.data.find(({ endpoint_id: of }) => of === id)
  const totals = totalsOf(one)
  return (
    <dl class="ledger">
      <Figure name={w.success} value={successOf(totals)} unit={w.ofAttempts({ n: totals.succeeded + totals.failed })} />
      <Figure name={w.failures} value={number(totals.failed)} isBad={totals.failed > 0} />
      <Latency {...totals} />
      <Figure name={w.waitingNow} {...waiting} />
      <Figure name={w.parkedNow} {...parked} isBad={parked.value !== '0'} />
      <div>
        <dt>{w.strip}</dt>
        <dd>
          <HealthStrip
            health={healthOfDay(id, one)}
            label={`${w.success}: ${successOf(totals)} ${w.ofAttempts({ n: totals.succeeded + totals.failed })}`}
          />
        </dd>
      </div>
    </dl>
  )
}

const healthOf = ({ succeeded, failed, p50_ms, p95_ms }: DayTotals) => ({
  ...{ taken: 0, failed: 0, deferred: 0, delivered: 0, bounced: 0, complained: 0 },
  ...{ attempts: succeeded + failed, errors: failed, p50_ms, p95_ms },
})

const countedTo = 50

/** Returns the current number of deliveries with a status, and the URL of their list. */
function useCount(id: string, status: 'failed' | 'parked'): { readonly value: string; readonly href: string } {
  const input = firstOf(countedTo, { path: { id }, query: { status } })
  const read = useRead('/v1/webhooks/{id}/attempts', input, { every: refreshMs })
  useChanges('webhook_deliveries', read.reload)
  const { data = [], next_cursor: next = null } = read.data ?? {}
  return { value: number(data.length) + (next === null ? '' : '+'), href: linkHere({ status }) }
}

/** Response times of receivers. */
const Latency = ({ p50_ms: p50, p95_ms: p95 }: DayTotals): JSX.Element => (
  <Figure name={own().latency} value={took(p50)} {...(p95 !== null && { unit: `p95 ${took(p95)}` })} />
)

export const took = (milliseconds: number | null): string => (milliseconds === null ? '–' : span(milliseconds))

interface FigureProps {
  readonly name: string
  readonly value: string
  readonly unit?: string
  readonly isBad?: boolean
  /** URL of the list. */
  readonly href?: string
}

const Figure = ({ name, value, unit, isBad = false, href }: FigureProps): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>
      <b class={isBad ? 'bad' : ''}>{href === undefined || value === '0' ? value : <a href={href}>{value}</a>}</b>{' '}
      {unit !== undefined && <span>{unit}</span>}
    </dd>
  </div>
)
