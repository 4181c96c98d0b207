/** The same figures apart: a strip for each destination, and what happened to recipients by destination and by domain. */
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { link } from '../app/location.ts'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { decimal, number, percent } from '../parts/time.ts'
import { getDestinationInsight, getDomainInsight, type Destination, type DestinationInsight } from '../wire/operations.ts'
import { words } from '../words/words.ts'
import { saveRows } from './plot-files.ts'
import { Tool } from './plot.tsx'
import { useInsight } from './reading.tsx'
import type { TimeSpan } from './time-range.ts'

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

interface BreakdownProps {
  readonly span: TimeSpan
  readonly destinations: readonly Destination[]
}

export function Strips({ span, destinations }: BreakdownProps): JSX.Element {
  const w = words()
  const id = useId()
  const read = useInsight(getDestinationInsight, span)
  return (
    <section class="plot" aria-labelledby={id}>
      <div class="plot-head">
        <h2 id={id}>{w.destinations}</h2>
        <span class="faint">{w.lastDayInQuarters}</span>
      </div>
      <Show read={read} reload={read.reload} failure={w.insightFailed} rows={3}>
        {({ data }) => (
          <ul class="strips">
            {destinations.map(({ id: destination, name }) => {
              const health = data.find((one) => one.destination_id === destination)
              return (
                <li key={destination}>
                  <a class="cut" href={link('/traces', { destination_id: destination })}>
                    <SafeText text={name} />
                  </a>
                  <span class="num faint">
                    {health && health.totals.attempts > 0
                      ? w.errorsAndLatency(percent(errorRate(health.totals) / 100, 1), health.totals.p95_ms ?? 0)
                      : w.noAttempts}
                  </span>
                  <HealthStrip health={health} label={stripWords(name, health?.totals)} />
                </li>
              )
            })}
          </ul>
        )}
      </Show>
    </section>
  )
}

interface Fates {
  readonly taken: number
  readonly failed: number
  readonly delivered: number
  readonly bounced: number
  readonly complained: number
}

interface SharesProps {
  readonly title: string
  readonly first: string
  readonly name: string
  readonly rows: readonly (Fates & { readonly subject: string })[]
}

/** Recipients of each subject, and their shares. */
function Shares({ title, first, name, rows }: SharesProps): JSX.Element {
  const w = words()
  const id = useId()
  const share = ({ taken, failed }: Fates, part: number): string =>
    taken + failed === 0 ? '–' : percent(part / (taken + failed), part === 0 ? 0 : 1)
  const head = [first, w.recipients, w.takenByProvider, w.deliveredReported, w.bounced, w.complained]
  const csv = [
    head,
    ...rows.map((row) => [row.subject, ...[row.taken + row.failed, row.taken, row.delivered, row.bounced, row.complained].map(String)]),
  ]
  return (
    <section class="plot" aria-labelledby={id}>
      <div class="plot-head">
        <h2 id={id}>{title}</h2>
        <span class="plot-tools">
          <Tool label={`CSV: ${title}`} text="CSV" onClick={() => void saveRows(csv, name)} />
        </span>
      </div>
      {rows.length === 0 ? (
        <p class="faint plot-nothing">{w.nothingCounted}</p>
      ) : (
        <div class="plot-table" tabIndex={0} role="region" aria-label={`${w.table}: ${title}`}>
          <table class="plot-numbers">
            <thead>
              <tr>
                {head.map((label, at) => (
                  <th key={label} scope="col" class={at === 0 ? '' : 'num'}>
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.subject}>
                  <th scope="row">
                    <SafeText text={row.subject} />
                  </th>
                  <td class="num">{number(row.taken + row.failed)}</td>
                  <td class="num">{share(row, row.taken)}</td>
                  <td class="num">{share(row, row.delivered)}</td>
                  <td class="num">{share(row, row.bounced)}</td>
                  <td class="num">{share(row, row.complained)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

export function ByDestination({ span, destinations }: BreakdownProps): JSX.Element {
  const w = words()
  const read = useInsight(getDestinationInsight, span)
  const nameOf = (id: string): string => destinations.find((one) => one.id === id)?.name ?? w.deletedDestination
  return (
    <Show read={read} reload={read.reload} failure={w.insightFailed} rows={3}>
      {({ data }) => (
        <Shares
          {...{ title: w.byDestination, first: w.destination, name: 'destinations' }}
          rows={data.map(({ destination_id: id, totals }) => ({ ...totals, subject: nameOf(id) }))}
        />
      )}
    </Show>
  )
}

export function ByDomain({ span }: { readonly span: TimeSpan }): JSX.Element {
  const w = words()
  const read = useInsight(getDomainInsight, span)
  return (
    <Show read={read} reload={read.reload} failure={w.insightFailed} rows={3}>
      {({ data }) => (
        <Shares
          {...{ title: w.byDomain, first: w.recipientDomain, name: 'domains' }}
          rows={data.map((row) => ({ ...row, subject: row.domain ?? w.allOthers }))}
        />
      )}
    </Show>
  )
}
