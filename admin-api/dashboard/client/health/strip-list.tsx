/** Health strips of destinations, as a list and as a table. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { go, link } from '../app/location.ts'
import { momentLabel, stepLabel, type TimeSpan } from '../insights/time-range.ts'
import { rate } from './rate.ts'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { number, span } from '../parts/time.ts'
import { texts as plotTexts } from '../plots/plots-texts.ts'
import type { Destination } from '../wire/api.d.ts'
import { colon } from '../texts/language.ts'
import { texts } from '../texts/texts.ts'
import type { Healths } from './destination-health.ts'
import { HealthStrip, stripText, type Health } from './health-strip.tsx'

export interface Shown {
  readonly destinations: readonly Destination[]
  /** Health of the last hour. */
  readonly healths: Healths
  /** Returns the health of the last day by destination id. */
  readonly healthOf: (id: string) => Health | undefined
  /** Returns the totals of the previous day, if the screen compares periods. */
  readonly beforeOf: (id: string) => Health['totals'] | undefined
  readonly isCompared: boolean
  readonly stepMs: number
}

const took = (milliseconds: number | null | undefined): string =>
  milliseconds === null || milliseconds === undefined ? '–' : span(milliseconds)

/** Formats `1.2 % · 340 ms`. */
const figures = (totals: Pick<Health['totals'], 'attempts' | 'errors' | 'p95_ms'> | undefined): string =>
  !totals || totals.attempts === 0 ? '–' : `${rate(totals.errors, totals.attempts, 1)} · ${took(totals.p95_ms)}`

export const StripList = ({ day, ...shown }: Shown & { readonly day: TimeSpan }): JSX.Element => (
  <div class="strips">
    <ul>
      {shown.destinations.map((one) => (
        <Strip key={one.id} {...{ one, shown, day }} />
      ))}
    </ul>
    <p class="strip-axis faint" aria-hidden="true">
      <span>{stepLabel(day.from, day.stepMs)}</span>
      <span>{momentLabel((day.from + day.to) / 2, day.to - day.from)}</span>
      <span>{texts().now}</span>
    </p>
  </div>
)

interface StripProps {
  readonly one: Destination
  readonly shown: Shown
  readonly day: TimeSpan
}

function Strip({ one: { id, name }, shown, day }: StripProps): JSX.Element {
  const w = texts()
  const [chosen, setChosen] = useState<number>()
  const health = shown.healthOf(id)
  const hour = shown.healths.get(id)?.last_hour
  const point = chosen === undefined ? undefined : health?.points[chosen]
  const time = { since: new Date(day.from).toISOString(), until: new Date(day.to).toISOString() }
  const hourSays =
    !hour || hour.attempts === 0 ? w.noAttempts : w.errorsAndLatency({ errors: rate(hour.errors, hour.attempts, 1), p95: hour.p95_ms ?? 0 })
  return (
    <li>
      <a class="cut" href={link('/traces', { destination_id: id, ...time })}>
        <SafeText text={name} />
      </a>
      <span class="num faint">{point ? cellText(point, shown.stepMs) : `${w.lastHour}${colon()} ${hourSays}`}</span>
      <div class="strip-cells" onPointerLeave={() => setChosen(undefined)}>
        <HealthStrip health={health} label={stripText(name, health?.totals)} />
        {health && <Cells {...{ id, name, health, stepMs: shown.stepMs, chosen, onChoose: setChosen }} />}
      </div>
      {shown.isCompared && (
        <small class="faint">
          {`24 h${colon()} ${figures(health?.totals)} · ${w.periodBefore}${colon()} ${figures(shown.beforeOf(id))}`}
        </small>
      )}
    </li>
  )
}

function cellText({ at, attempts, errors, p95_ms: p95 }: Health['points'][number], stepMs: number): string {
  return plotTexts().cell({ time: stepLabel(Date.parse(at), stepMs), attempts: number(attempts), errors: number(errors), p95: took(p95) })
}

interface CellsProps {
  readonly id: string
  readonly name: string
  readonly health: Health
  readonly stepMs: number
  readonly chosen: number | undefined
  readonly onChoose: (cell: number | undefined) => void
}

/** Slider over the cells for pointer, keys and touch. Enter opens the traces of a cell. */
function Cells({ id, name, health: { points }, stepMs, chosen, onChoose }: CellsProps): JSX.Element {
  const at = chosen ?? points.length - 1
  const point = points[at]
  const open = (): void => {
    const since = Date.parse(point?.at ?? '')
    go(link('/traces', { destination_id: id, since: new Date(since).toISOString(), until: new Date(since + stepMs).toISOString() }))
  }
  return (
    <input
      class="strip-steps"
      type="range"
      min={0}
      max={Math.max(0, points.length - 1)}
      value={at}
      aria-label={`${plain(name)}, ${texts().step}`}
      aria-valuetext={point ? cellText(point, stepMs) : ''}
      onInput={(event) => onChoose(Number(event.currentTarget.value))}
      onFocus={() => onChoose(at)}
      onBlur={() => onChoose(undefined)}
      onPointerMove={(event) => {
        const { left, width } = event.currentTarget.getBoundingClientRect()
        const cell = Math.floor(((event.clientX - left) / Math.max(1, width)) * points.length)
        if (event.pointerType === 'mouse') onChoose(Math.max(0, Math.min(points.length - 1, cell)))
      }}
      onKeyDown={({ key }) => {
        if (key === 'Enter') open()
      }}
      onPointerUp={({ pointerType, button }) => {
        if (pointerType === 'mouse' && button === 0) open()
      }}
    />
  )
}

export function StripTable({ destinations, healths, healthOf, beforeOf, isCompared }: Shown): JSX.Element {
  const w = texts()
  const before = [w.attempts, w.errors, 'p95'].map((label) => `${label} (${w.periodBefore})`)
  const head = [w.destination, `${w.errors}, ${w.lastHour}`, `p95, ${w.lastHour}`, w.attempts, w.errors, 'p95']
  return (
    <div class="plot-table" tabIndex={0} role="region" aria-label={`${w.table}: ${w.destinations}`}>
      <table class="plot-numbers">
        <thead>
          <tr>
            {[...head, ...(isCompared ? before : [])].map((label, at) => (
              <th key={label} scope="col" class={at === 0 ? '' : 'num'}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {destinations.map(({ id, name }) => {
            const hour = healths.get(id)?.last_hour
            const rows = [
              ...(hour && hour.attempts > 0 ? [rate(hour.errors, hour.attempts, 1), took(hour.p95_ms)] : ['–', '–']),
              ...cellsOf(healthOf(id)?.totals),
              ...(isCompared ? cellsOf(beforeOf(id)) : []),
            ]
            return (
              <tr key={id}>
                <th scope="row">
                  <SafeText text={name} />
                </th>
                {rows.map((text, at) => (
                  <td key={at} class="num">
                    {text}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** Returns attempts, error rate and p95. */
const cellsOf = (totals: Health['totals'] | undefined): readonly string[] =>
  totals && totals.attempts > 0 ? [number(totals.attempts), rate(totals.errors, totals.attempts, 1), took(totals.p95_ms)] : ['0', '–', '–']
