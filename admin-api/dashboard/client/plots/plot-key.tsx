/** Legend of a plot: series with their totals or with the values of a step. Links lead to the counted items. */
import type { JSX } from 'preact'
import { link, query } from '../app/location.ts'
import type { PlotData, Series } from '../insights/drawing.ts'
import { Swatch } from '../insights/plot-svg.tsx'
import { rangeOf, stepLabel } from '../insights/time-range.ts'
import { texts } from '../texts/texts.ts'

/** Link from a plot to the list of the counted items. */
export interface Explore {
  readonly to: string
  readonly query?: Readonly<Record<string, string>>
  /** Text of the link. */
  readonly says: string
  /** Query parameters for start and end. Without them, the link has no time filter. */
  readonly times?: readonly [begin: string, end: string]
}

type Shown = Pick<PlotData, 'times' | 'stepMs'>

/** Returns the URL of the list, for a step or for the whole period. */
export function exploreLink(
  { to, query: filter, times: names }: Explore,
  { times, stepMs }: Shown,
  step: number | undefined,
  more: Readonly<Record<string, string>> = {},
): string {
  if (!names) return link(to, { ...filter, ...more })
  const since = times[step ?? 0] ?? 0
  const until = (times[step ?? times.length - 1] ?? 0) + stepMs
  const range = rangeOf(query.value)
  const time = { [names[0]]: new Date(since).toISOString(), [names[1]]: new Date(until).toISOString() }
  return link(to, { ...filter, ...more, ...time, ...(range !== '24h' && { range }) })
}

export const valueAt = (values: readonly (number | null)[], at: number, format: (value: number) => string): string => {
  const value = values[at]
  return value === null || value === undefined ? '–' : format(value)
}

interface KeyProps {
  readonly data: PlotData
  readonly explore?: Explore | undefined
  /** Index of the step under the cursor. */
  readonly chosen: number | undefined
  readonly scope: string
  /** Shows the time only while the cursor is on a step. */
  readonly isBrief?: boolean
}

export function PlotKey({ data, explore, chosen, scope, isBrief = false }: KeyProps): JSX.Element {
  const w = texts()
  const { series, before, times, stepMs, format } = data
  const shown = (values: Series['values'], total: string): string => (chosen === undefined ? total : valueAt(values, chosen, format))
  return (
    <div class="plot-key">
      <ul>
        {series.map(({ label, look, kind, values, total, explore: own }) => (
          <li key={label}>
            <Swatch name={look} scope={scope} kind={kind} />
            {explore && own ? <a href={exploreLink(explore, data, chosen, own)}>{label}</a> : label} <b>{shown(values, total)}</b>
          </li>
        ))}
        {before && (
          <li>
            <Swatch name="before" scope={scope} />
            {before.label} <b>{shown(before.values, before.total)}</b>
          </li>
        )}
      </ul>
      <p class="faint">
        {chosen === undefined ? !isBrief && w.wholeTime : stepLabel(times[chosen] ?? 0, stepMs)}{' '}
        {explore && !isBrief && <a href={exploreLink(explore, data, chosen)}>{explore.says}</a>}
      </p>
    </div>
  )
}
