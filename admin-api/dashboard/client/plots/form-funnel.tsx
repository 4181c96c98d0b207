/** Plot of form visitors by day: views, starts, submissions and spam. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { projectId, query } from '../app/location.ts'
import type { Before, PlotData, Series } from '../insights/drawing.ts'
import { Plot } from '../insights/plot.tsx'
import { isCompared, rangeOf, type Range } from '../insights/time-range.ts'
import { useFlag } from '../parts/feature.tsx'
import { number, percent } from '../parts/time.ts'
import { texts as allTexts } from '../texts/texts.ts'
import type { FormFigures } from '../wire/api.d.ts'
import type { Explore } from './plot-key.tsx'
import { texts } from './plots-texts.ts'

const dayMs = 86_400_000
const refreshMs = 60_000
const most = 1000

export type Funnel = Pick<FormFigures, 'days' | 'totals'>

interface FormFunnelProps {
  readonly now: Funnel
  /** The previous days, for a comparison. */
  readonly before: Funnel | undefined
  /** Undefined for all forms. */
  readonly formId: string | undefined
  readonly title: string
  readonly note: string
  /** File name of downloads, without extension. */
  readonly name: string
}

export const spamShare = ({ submissions, spam }: Funnel['totals']): string =>
  submissions + spam === 0 ? '–' : percent(spam / (submissions + spam), 1)

export function FormFunnel({ now, before, formId, title, note, name }: FormFunnelProps): JSX.Element {
  const data = plotOf(now, before)
  const list = formId === undefined ? '/forms/submissions' : `/forms/${formId}/submissions`
  const explore: Explore = { to: list, query: { status: 'all' }, says: texts().showSubmissions, times: ['from', 'to'] }
  const summary = data.series.map(({ label, total }) => `${label}: ${total}`).join(', ')
  return <Plot {...{ data, title, note, name, summary, explore }} />
}

function plotOf({ days, totals }: Funnel, before: Funnel | undefined): PlotData {
  const { funnel } = texts()
  const part = (of: keyof typeof funnel, look: Series['look'], kind: Series['kind']): Series => ({
    ...{ label: funnel[of], look, kind, total: number(totals[of]), values: days.map((day) => day[of]) },
  })
  return {
    ...{ times: days.map(({ at }) => Date.parse(at)), stepMs: dayMs, format: number, atLeast: 4 },
    series: [
      { ...part('submissions', 'relayed', 'bar'), explore: { status: 'all' } },
      { ...part('spam', 'striped', 'bar'), total: `${number(totals.spam)} (${spamShare(totals)})`, explore: { status: 'spam' } },
      part('starts', 'dashed', 'line'),
      part('views', 'line', 'line'),
    ],
    before: before && earlier(before),
  }
}

const earlier = ({ days, totals }: Funnel): Before => ({
  ...{ values: days.map(({ submissions }) => submissions), total: number(totals.submissions) },
  label: texts().before({ label: texts().funnel.submissions }),
})

/** Number of days by range. The figures of all forms cover at most 31 days. */
const daysOf: Readonly<Record<Range, number>> = { '24h': 7, '7d': 7, '30d': 30, '90d': 30 }

/** Plot for all forms together. Hidden without forms. */
export function AllForms({ now }: { readonly now: number }): JSX.Element | null {
  const w = texts()
  const days = daysOf[rangeOf(query.value)]
  const to = Math.floor(now / dayMs) * dayMs + dayMs
  const isOn = useFlag('forms')?.enabled === true
  const shown = useSum(isOn, to - days * dayMs, to)
  const before = useSum(isOn && isCompared(query.value), to - 2 * days * dayMs, to - days * dayMs)
  if (!shown) return null
  const note = shown.hasMore ? `${w.perDayOf({ days })}, ${w.ofNewest({ count: most })}` : w.perDayOf({ days })
  return <FormFunnel {...{ now: shown, before, formId: undefined, title: allTexts().forms, note, name: 'forms' }} />
}

/** Returns the sum over all forms. */
function useSum(isWanted: boolean, from: number, to: number): (Funnel & { readonly hasMore: boolean }) | undefined {
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const time = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  const { read, isComplete } = useAll('/v1/forms/analytics', isWanted ? { query: { ...project, ...time } } : undefined, {
    every: refreshMs,
  })
  const { data } = read
  const [first] = data ?? []
  if (!data || !first) return undefined
  const sum = (of: keyof Funnel['totals'], among: readonly Funnel['totals'][]): number => among.reduce((all, one) => all + one[of], 0)
  const added = (among: readonly Funnel['totals'][]): Funnel['totals'] => ({
    ...{ views: sum('views', among), starts: sum('starts', among) },
    ...{ submissions: sum('submissions', among), spam: sum('spam', among) },
  })
  return {
    hasMore: !isComplete,
    days: first.days.map(({ at }, day) => ({ at, ...added(data.flatMap(({ days }) => days[day] ?? [])) })),
    totals: added(data.map(({ totals }) => totals)),
  }
}
