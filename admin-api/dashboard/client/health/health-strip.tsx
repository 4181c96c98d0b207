/** Health of the last day as a strip of cells. */
import type { JSX } from 'preact'
import { rate } from './rate.ts'
import { number } from '../parts/time.ts'
import type { DestinationInsight } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import type { TimeSpan } from '../insights/time-range.ts'

const quarterMs = 15 * 60_000
const dayMs = 24 * 60 * 60_000

export type Health = DestinationInsight['data'][number]

/** Returns the last 24 hours in quarter-hour cells, including the current quarter. */
export const lastDay = (now: number): TimeSpan => {
  const to = Math.floor(now / quarterMs) * quarterMs + quarterMs
  return { from: to - dayMs, to, stepMs: quarterMs }
}

/** Returns height and color of a cell; both carry the same meaning. A cell is slow above three times the 95th percentile of the day. */
export function cellOf(
  { attempts, errors, p95_ms: p95 }: Health['points'][number],
  usual: number,
): readonly [height: number, fill: string] {
  if (attempts === 0) return [1.5, '--line-strong']
  if (errors / attempts >= 0.5) return [18, '--p-bad']
  if (errors > 0 || (p95 !== null && usual > 0 && p95 > 3 * usual)) return [12, '--p-refused']
  return [4, '--p-relayed']
}

/** One cell per step. The adjacent text states the same. */
export function HealthStrip({ health, label }: { readonly health: Health | undefined; readonly label: string }): JSX.Element {
  const { points = [], totals } = health ?? {}
  const width = Math.max(1, points.length) * 3
  return (
    <svg class="strip" viewBox={`0 0 ${String(width)} 18`} preserveAspectRatio="none" role="img" aria-label={label}>
      {points.map((point, at) => {
        const [height, fill] = cellOf(point, totals?.p95_ms ?? 0)
        return <rect key={point.at} x={at * 3} y={18 - height} width={2} height={height} fill={`var(${fill})`} />
      })}
      {points.length === 0 && <rect y={16.5} width={width} height={1.5} fill="var(--line-strong)" />}
    </svg>
  )
}

/** Returns the text alternative of a strip. */
export function stripText(name: string, totals: Health['totals'] | undefined): string {
  const w = texts()
  return totals && totals.attempts > 0
    ? `${name}: ${w.stripSays({ attempts: number(totals.attempts), errors: rate(totals.errors, totals.attempts, 1), p95: String(totals.p95_ms ?? 0) })}`
    : `${name}: ${w.noAttempts}`
}
