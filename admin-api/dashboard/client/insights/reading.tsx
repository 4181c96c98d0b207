/** Hooks that read the figures of the current period, and of the previous period for a comparison. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { projectId, query } from '../app/location.ts'
import { firstOf, useRead, useTicks, type Reading } from '../app/query.ts'
import { Show } from '../parts/states.tsx'
import type { Answer, Input, Route } from '../wire/route.ts'
import { texts } from '../texts/texts.ts'
import { asQuery, earlier, isCompared, isUtc, rangeOf, spanOf, type TimeSpan } from './time-range.ts'

/** Refresh interval in milliseconds. The current time step is not over, so its figures still change. */
const refreshMs = 30_000

/** Returns the period of the address. It moves with the clock. */
export function useSpan(): { readonly span: TimeSpan; readonly now: number } {
  const [now, setNow] = useState(Date.now)
  useTicks(
    refreshMs,
    useStable(() => setNow(Date.now())),
  )
  const [range, utc] = [rangeOf(query.value), isUtc(query.value)]
  useEffect(() => setNow(Date.now()), [range])
  return { span: spanOf(range, utc, now), now }
}

function useStable(work: () => void): () => void {
  const [kept] = useState(() => work)
  return kept
}

interface Insight {
  readonly points: readonly { readonly at: string }[]
}
/** Routes of statistics over time. */
type InsightRoute = Extract<Route, `/v1/insights/${string}`>
/** Those with one series of points. */
type SeriesRoute = { [R in InsightRoute]: Answer<R> extends Insight ? R : never }[InsightRoute]

export interface Compared<T> {
  readonly now: T
  readonly before: T | undefined
}

interface Wanted {
  readonly isShown?: boolean
  /** Maximum number of separate entries, the largest first. */
  readonly first?: number
}

function inputOf<R extends InsightRoute>(span: TimeSpan, first: number | undefined): Input<R> {
  const query = {
    ...(projectId.value !== undefined && { project: projectId.value }),
    ...asQuery(span),
  }
  return (first === undefined ? { query } : firstOf(first, { query })) as Input<R>
}

/** Does nothing without a period. */
export const useInsight = <R extends InsightRoute>(
  route: R,
  span: TimeSpan | undefined,
  { isShown = false, first }: Wanted = {},
): Reading<Answer<R>> => useRead(route, span && inputOf<R>(span, first), { every: refreshMs, isShown })

interface InsightProps<R extends SeriesRoute> {
  readonly route: R
  readonly span: TimeSpan
  readonly isShown?: boolean
  readonly children: (read: Compared<Answer<R>>) => JSX.Element
}

/** Reads figures and renders them. Keeps the previous figures during a refresh. */
export function WithInsight<R extends SeriesRoute>({ route, span, isShown = false, children }: InsightProps<R>): JSX.Element {
  const now = useInsight(route, span, { isShown })
  const before = useEarlier(route, span)
  return (
    <Show read={now} reload={now.reload} failure={texts().insightFailed} rows={4}>
      {(data) => children({ now: data, before })}
    </Show>
  )
}

/** Reads the previous period. Undefined without a comparison. */
export const useEarlier = <R extends InsightRoute>(route: R, span: TimeSpan, first?: number): Answer<R> | undefined =>
  useRead(route, isCompared(query.value) ? inputOf<R>(earlier(span), first) : undefined).data
