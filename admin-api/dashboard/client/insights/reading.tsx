/** Hooks that read the figures of the current period, and of the previous period for a comparison. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { projectId, query } from '../app/location.ts'
import { firstOf, useRead, useTicks, type Reading } from '../app/query.ts'
import { Show } from '../parts/states.tsx'
import type { Operation } from '../wire/operation.ts'
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
type InsightQuery = { project?: string; from?: string; to?: string; step_seconds?: number; limit?: number }
export type InsightOperation<T> = Operation<{ query?: InsightQuery }, T>

export interface Compared<T> {
  readonly now: T
  readonly before: T | undefined
}

interface Wanted {
  readonly isShown?: boolean
  /** Maximum number of separate entries, the largest first. */
  readonly first?: number
}

const inputOf = (span: TimeSpan, first: number | undefined): { query: InsightQuery } => {
  const query = {
    ...(projectId.value !== undefined && { project: projectId.value }),
    ...asQuery(span),
  }
  return first === undefined ? { query } : firstOf(first, { query })
}

export const useInsight = <T,>(operation: InsightOperation<T>, span: TimeSpan, { isShown = false, first }: Wanted = {}): Reading<T> =>
  useRead(operation, inputOf(span, first), { every: refreshMs, isShown })

interface InsightProps<T> {
  readonly operation: InsightOperation<T>
  readonly span: TimeSpan
  readonly isShown?: boolean
  readonly children: (read: Compared<T>) => JSX.Element
}

/** Reads figures and renders them. Keeps the previous figures during a refresh. */
export function WithInsight<T extends Insight>({ operation, span, isShown = false, children }: InsightProps<T>): JSX.Element {
  const now = useInsight(operation, span, { isShown })
  const before = useEarlier(operation, span)
  return (
    <Show read={now} reload={now.reload} failure={texts().insightFailed} rows={4}>
      {(data) => children({ now: data, before })}
    </Show>
  )
}

/** Reads the previous period. Undefined without a comparison. */
export const useEarlier = <T,>(operation: InsightOperation<T>, span: TimeSpan, first?: number): T | undefined =>
  useRead(operation, isCompared(query.value) ? inputOf(earlier(span), first) : undefined).data
