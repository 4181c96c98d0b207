/** Reads whether a provider has ever accepted a message. */
import { useState } from 'preact/hooks'
import { everKept } from '../../kept-figures.ts'
import { projectId } from '../app/location.ts'
import { useRead, type Read } from '../app/query.ts'
import type { DeliveryInsight } from '../wire/api.d.ts'

/** Returns undefined during the reads. Reads older figures only for a day without mail. A failed read counts as an accepted message. */
export function useHadMail({ state, data: day }: Read<DeliveryInsight>): boolean | undefined {
  const isSeen = day ? day.totals.taken > 0 : state === 'failed'
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const [query] = useState(() => everKept(Date.now()))
  const ever = useRead('/v1/insights/delivery', day === undefined || isSeen ? undefined : { query: { ...project, ...query } })
  if (isSeen || ever.state === 'failed') return true
  return day && ever.data && ever.data.totals.taken > 0
}
