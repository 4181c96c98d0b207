/** Reads whether a provider has ever accepted a message, and how many messages were captured despite a live destination. */
import { useEffect, useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { projectId } from '../app/location.ts'
import { projects } from '../app/projects.ts'
import { useRead } from '../app/query.ts'
import {
  getDeliveryInsight,
  getSendInsight,
  type DeliveryInsight,
  type Destination,
  type SendInsight,
  type TraceSummary,
} from '../wire/operations.ts'
import { stepSeconds } from './judgement.ts'

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
  const query = { ...project, from, step_seconds: String(longestStepSeconds) }
  const ever = useRead(getDeliveryInsight, isAsked ? { query } : undefined)
  return isSeen || ever.data === undefined || ever.data.totals.taken > 0
}

/** Maximum number of projects with separate requests. */
const maxProjects = 20

/**
 * Returns the number of messages of the last day that were captured for lack of a routing rule, although a live destination exists. If all
 * projects are in view and no live destination is shared, only projects with a live destination count.
 */
export function useUnrouted(destinations: readonly Destination[], sends: SendInsight | undefined): number {
  const live = destinations.filter(({ mode }) => mode === 'live')
  const total = sends?.totals.captured_no_route ?? 0
  const isApart = total > 0 && projectId.value === undefined && projects.value.length > 1 && live.every(({ scope }) => scope === 'project')
  const ids = isApart ? [...new Set(live.map(({ project_id: id }) => id))].slice(0, maxProjects) : []
  const [counted, setCounted] = useState(0)
  useEffect(() => {
    if (ids.length === 0) return undefined
    const aborter = new AbortController()
    const captured = ids.map(async (project) => {
      const input = { query: { project, step_seconds: String(stepSeconds) } }
      return (await call(getSendInsight, input, { signal: aborter.signal })).totals.captured_no_route
    })
    Promise.all(captured).then(
      (counts) => setCounted(counts.reduce((sum, count) => sum + count, 0)),
      () => undefined, // the next update retries
    )
    return () => aborter.abort()
  }, [ids.join(' '), total])
  if (live.length === 0) return 0
  return isApart ? counted : total
}
