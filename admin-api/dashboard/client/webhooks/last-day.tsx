/** How deliveries of the last day went: for each endpoint, and for all that are shown. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { projectId } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { number, percent } from '../parts/time.ts'
import { getWebhookEndpointInsight, getWebhookInsight } from '../wire/operations.ts'
import { words as own } from './webhooks-words.ts'

const dayMs = 86_400_000
const refreshMs = 30_000
const most = '200'

export interface DayTotals {
  readonly succeeded: number
  readonly failed: number
  readonly parked: number
}

function useSpan(): { readonly from: string; readonly to: string } {
  const [now] = useState(() => Date.now())
  return { from: new Date(now - dayMs).toISOString(), to: new Date(now).toISOString() }
}

/** By the id of the endpoint; those without an attempt are left out. */
export function useLastDay(): ReadonlyMap<string, DayTotals> | undefined {
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const { data } = useRead(getWebhookEndpointInsight, { query: { ...useSpan(), ...project, limit: most } }, { every: refreshMs })
  return data && new Map(data.data.map(({ endpoint_id: id, totals }) => [id, totals]))
}

const nothing: DayTotals = { succeeded: 0, failed: 0, parked: 0 }

/** The share of attempts that succeeded. */
export function successOf({ succeeded, failed }: DayTotals): string {
  const all = succeeded + failed
  return all === 0 ? '–' : percent(Math.floor((succeeded / all) * 1000) / 1000, 1)
}

/** Of all endpoints that are shown. */
export function LastDay(): JSX.Element | null {
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const { data } = useRead(getWebhookInsight, { query: { ...useSpan(), ...project } }, { every: refreshMs })
  return data ? <DayLedger totals={data.totals} /> : null
}

/** Of one endpoint. */
export function EndpointDay({ id }: { readonly id: string }): JSX.Element | null {
  const days = useLastDay()
  return days ? <DayLedger totals={days.get(id) ?? nothing} /> : null
}

function DayLedger({ totals }: { readonly totals: DayTotals }): JSX.Element {
  const w = own()
  const { succeeded, failed, parked } = totals
  return (
    <dl class="ledger">
      <Figure name={w.success} value={successOf(totals)} unit={w.ofAttempts(succeeded + failed)} />
      <Figure name={w.failures} value={number(failed)} isBad={failed > 0} />
      <Figure name={w.parked} value={number(parked)} isBad={parked > 0} />
    </dl>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  readonly unit?: string
  readonly isBad?: boolean
}

const Figure = ({ name, value, unit, isBad = false }: FigureProps): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>
      <b class={isBad ? 'bad' : ''}>{value}</b> {unit !== undefined && <span>{unit}</span>}
    </dd>
  </div>
)
