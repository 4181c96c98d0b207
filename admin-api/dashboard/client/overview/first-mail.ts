/** Reads whether a provider has ever accepted a message. */
import { useState } from 'preact/hooks'
import { projectId } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import type { DeliveryInsight, TraceSummary } from '../wire/api.d.ts'

const dayMs = 86_400_000
/** Retention of the figures, without the current step. */
const keptDays = 700
const longestStepSeconds = 31 * 86_400

const accepted: ReadonlySet<TraceSummary['status']> = new Set(['sent', 'delivered', 'bounced', 'complained'])

/**
 * Returns false only if the figures show that no provider ever accepted a message. Reads older figures only if the recent ones show none.
 */
export function useHadMail(isLive: boolean, traces: readonly TraceSummary[] | undefined, day: DeliveryInsight | undefined): boolean {
  const isSeen = traces?.some(({ status }) => accepted.has(status)) === true || (day?.totals.taken ?? 0) > 0
  const isAsked = isLive && !isSeen && traces !== undefined && day !== undefined
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const [from] = useState(() => new Date(Date.now() - keptDays * dayMs).toISOString())
  const query = { ...project, from, step_seconds: longestStepSeconds }
  const ever = useRead('/v1/insights/delivery', isAsked ? { query } : undefined)
  return isSeen || ever.data === undefined || ever.data.totals.taken > 0
}
