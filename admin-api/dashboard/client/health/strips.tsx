/** How each destination did in the last day, as a strip of quarters of an hour, as a table, and as files. */
import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { link } from '../app/location.ts'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { decimal, number, percent } from '../parts/time.ts'
import { getDestinationInsight, type Destination, type DestinationInsight } from '../wire/operations.ts'
import { words } from '../words/words.ts'
import type { BreakdownProps } from '../insights/breakdowns.tsx'
import type { LookName, Shape } from '../insights/drawing.ts'
import { savePng, saveRows } from '../insights/plot-files.ts'
import { Tool } from '../insights/plot.tsx'
import { useInsight } from '../insights/reading.tsx'
import type { TimeSpan } from '../insights/time-range.ts'

const quarterMs = 15 * 60_000
const cells = 96

type Health = DestinationInsight['data'][number]

/** The last day in cells of a quarter of an hour. */
export const lastDay = (now: number): TimeSpan => {
  const to = Math.floor(now / quarterMs) * quarterMs + quarterMs
  return { from: to - cells * quarterMs, to, stepMs: quarterMs }
}

/** How a cell stands: height and colour say the same. Slow is three times the 95th percentile of the day. */
function cellOf({ attempts, errors, p95_ms: p95 }: Health['points'][number], usual: number): readonly [height: number, fill: string] {
  if (attempts === 0) return [1.5, '--line-strong']
  if (errors / attempts >= 0.5) return [18, '--p-bad']
  if (errors > 0 || (p95 !== null && usual > 0 && p95 > 3 * usual)) return [12, '--p-refused']
  return [4, '--p-relayed']
}

const errorRate = ({ attempts, errors }: Health['totals']): number => (attempts === 0 ? 0 : (100 * errors) / attempts)

/** 96 cells; what they say stands beside them in words. */
export const HealthStrip = ({ health, label }: { readonly health: Health | undefined; readonly label: string }): JSX.Element => (
  <svg class="strip" viewBox={`0 0 ${String(cells * 3)} 18`} preserveAspectRatio="none" role="img" aria-label={label}>
    {(health?.points ?? []).map((point, at) => {
      const [height, fill] = cellOf(point, health?.totals.p95_ms ?? 0)
      return <rect key={point.at} x={at * 3} y={18 - height} width={2} height={height} fill={`var(${fill})`} />
    })}
    {!health && <rect y={16.5} width={cells * 3} height={1.5} fill="var(--line-strong)" />}
  </svg>
)

/** What a strip says. */
export function stripWords(name: string, totals: Health['totals'] | undefined): string {
  const w = words()
  return totals && totals.attempts > 0
    ? `${name}: ${w.stripSays(number(totals.attempts), decimal(errorRate(totals), 1), String(totals.p95_ms ?? 0))}`
    : `${name}: ${w.noAttempts}`
}

/** The same cells as shapes of a picture: a line of text and a strip for each. */
function shapesOf(
  destinations: readonly Destination[],
  healthOf: (one: Destination) => Health | undefined,
  width: number,
): readonly Shape[] {
  const step = (width - 2 * side) / cells
  return destinations.flatMap((one, row): readonly Shape[] => {
    const [health, base] = [healthOf(one), row * rowHeight + 44]
    const bars = (health?.points ?? []).map((point, at): Shape => {
      const [height, fill] = cellOf(point, health?.totals.p95_ms ?? 0)
      return { kind: 'bar', look: lookOfFill[fill] ?? 'plain', x: side + at * step, y: base - height, width: Math.max(1, step - 1), height }
    })
    return [
      { kind: 'text', look: 'axis', x: side, y: base - 24, text: stripWords(plain(one.name), health?.totals), anchor: 'start' },
      ...bars,
    ]
  })
}

const lookOfFill: Readonly<Record<string, LookName>> = { '--p-bad': 'bad', '--p-refused': 'striped', '--p-relayed': 'relayed' }
const side = 8
const rowHeight = 48
const pictureWidth = 960

export function Strips({ span, destinations }: BreakdownProps): JSX.Element {
  const w = words()
  const id = useId()
  const [asTable, setAsTable] = useState(false)
  const read = useInsight(getDestinationInsight, span)
  const healthOf = ({ id: of }: Destination): Health | undefined => read.data?.data.find((one) => one.destination_id === of)
  const title = w.destinations
  const csv = (): readonly (readonly string[])[] => [
    ['time', w.destination, w.attempts, w.errors, 'p95_ms'],
    ...destinations.flatMap((one) =>
      (healthOf(one)?.points ?? []).map(({ at, attempts, errors, p95_ms: p95 }) => [
        at,
        one.name,
        String(attempts),
        String(errors),
        String(p95 ?? ''),
      ]),
    ),
  ]
  const picture = (): Promise<void> =>
    savePng(
      shapesOf(destinations, healthOf, pictureWidth),
      pictureWidth,
      destinations.length * rowHeight + 16,
      `${title} – ${w.lastDayInQuarters}`,
      'health',
    )
  return (
    <section class="plot" aria-labelledby={id}>
      <div class="plot-head">
        <h2 id={id}>{title}</h2>
        <span class="faint">{w.lastDayInQuarters}</span>
        <span class="plot-tools">
          <Tool
            label={`${asTable ? w.asPlot : w.asTable}: ${title}`}
            icon={asTable ? 'overview' : 'traces'}
            onClick={() => setAsTable(!asTable)}
          />
          <Tool label={`CSV: ${title}`} text="CSV" onClick={() => void saveRows(csv(), 'health')} />
          {!asTable && <Tool label={`PNG: ${title}`} text="PNG" onClick={() => void picture()} />}
        </span>
      </div>
      <Show read={read} reload={read.reload} failure={w.insightFailed} rows={3}>
        {() =>
          asTable ? (
            <StripTable destinations={destinations} healthOf={healthOf} />
          ) : (
            <StripList destinations={destinations} healthOf={healthOf} />
          )
        }
      </Show>
    </section>
  )
}

interface Shown {
  readonly destinations: readonly Destination[]
  readonly healthOf: (one: Destination) => Health | undefined
}

const StripList = ({ destinations, healthOf }: Shown): JSX.Element => (
  <ul class="strips">
    {destinations.map((one) => {
      const totals = healthOf(one)?.totals
      return (
        <li key={one.id}>
          <a class="cut" href={link('/traces', { destination_id: one.id })}>
            <SafeText text={one.name} />
          </a>
          <span class="num faint">
            {totals && totals.attempts > 0
              ? words().errorsAndLatency(percent(errorRate(totals) / 100, 1), totals.p95_ms ?? 0)
              : words().noAttempts}
          </span>
          <HealthStrip health={healthOf(one)} label={stripWords(one.name, totals)} />
        </li>
      )
    })}
  </ul>
)

function StripTable({ destinations, healthOf }: Shown): JSX.Element {
  const w = words()
  return (
    <div class="plot-table" tabIndex={0} role="region" aria-label={`${w.table}: ${w.destinations}`}>
      <table class="plot-numbers">
        <thead>
          <tr>
            {[w.destination, w.attempts, w.errors, 'p95 ms'].map((label, at) => (
              <th key={label} scope="col" class={at === 0 ? '' : 'num'}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {destinations.map((one) => {
            const { attempts, errors, p95_ms: p95 } = healthOf(one)?.totals ?? { attempts: 0, errors: 0, p95_ms: null }
            return (
              <tr key={one.id}>
                <th scope="row">
                  <SafeText text={one.name} />
                </th>
                <td class="num">{number(attempts)}</td>
                <td class="num">{attempts === 0 ? '–' : percent(errors / attempts, 1)}</td>
                <td class="num">{p95 ?? '–'}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
