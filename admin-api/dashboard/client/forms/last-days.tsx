/** Recent results of forms for the list: submissions by day as a small plot, and the conversion rate. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { number } from '../parts/time.ts'
import type { FormFigures } from '../wire/api.d.ts'
import { texts } from './forms-texts.ts'

const shownDays = 30
const dayMs = 86_400_000

/** Returns figures by form id. Undefined while loading. */
export function useLastDays(project: { readonly project?: string }): ReadonlyMap<string, FormFigures> | undefined {
  const [today] = useState(() => Math.floor(Date.now() / dayMs) * dayMs)
  const from = new Date(today - (shownDays - 1) * dayMs).toISOString()
  const { data } = useAll('/v1/forms/analytics', { query: { ...project, from } }).read
  return data && new Map(data.map((one) => [one.form_id, one]))
}

/** Bar plot next to the sum. The sum is the text alternative of the plot. */
export function LastDays({ figures }: { readonly figures: FormFigures | undefined }): JSX.Element {
  const w = texts()
  if (!figures) return <span class="faint">–</span>
  const { days, totals } = figures
  const most = Math.max(4, ...days.map(({ submissions }) => submissions))
  return (
    <span class="last-days" title={w.inDays({ n: number(totals.submissions), days: days.length })}>
      <svg viewBox={`0 0 ${String(days.length * 3)} 18`} aria-hidden="true">
        <path d={`M0 17.500h${String(days.length * 3)}`} />
        {days.map(({ at, submissions }, day) => {
          const height = submissions === 0 ? 0 : Math.max(1.5, (16 * submissions) / most)
          return <rect key={at} x={day * 3} y={17 - height} width={2} height={height} />
        })}
      </svg>
      <span>{number(totals.submissions)}</span>
    </span>
  )
}

export function conversionOf(figures: FormFigures | undefined): string {
  if (!figures || figures.totals.views === 0) return '–'
  const { submissions, views } = figures.totals
  return `${String(Math.min(100, Math.round((100 * submissions) / views)))} %`
}
