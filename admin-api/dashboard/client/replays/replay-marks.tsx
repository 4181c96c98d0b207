/** The state of a replay as a mark with its word, and its filter in words. */
import type { JSX } from 'preact'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { shortTime } from '../parts/time.ts'
import type { Replay } from '../wire/operations.ts'
import { words } from './replays-words.ts'

export const markOf = (status: Replay['status']): string => (status === 'running' ? 'queued' : status === 'finished' ? 'ok' : 'canceled')

export const ReplayStatus = ({ status }: Pick<Replay, 'status'>): JSX.Element => (
  <span class="status">
    <Mark name={markOf(status)} />
    {words().statuses[status]}
  </span>
)

/** `to ada@example.org · since 12:04`. The end is when it began, unless it was given. */
export function FilterWords({ replay: { filter, created_at: made } }: { readonly replay: Replay }): JSX.Element {
  const { filterParts: w, allFailed } = words()
  const isUntilGiven = made !== null && Math.abs(Date.parse(filter.until) - Date.parse(made)) > 2000
  const parts = [
    ...(filter.to === null ? [] : [`${w.to} ${filter.to}`]),
    ...(filter.from === null ? [] : [`${w.from} ${filter.from}`]),
    ...(filter.destination_id === null ? [] : [`${w.via} ${filter.destination_id}`]),
    ...(filter.since === null ? [] : [`${w.since} ${shortTime(filter.since)}`]),
    ...(isUntilGiven ? [`${w.until} ${shortTime(filter.until)}`] : []),
  ]
  return <SafeText text={parts.length === 0 ? allFailed : parts.join(' · ')} />
}
