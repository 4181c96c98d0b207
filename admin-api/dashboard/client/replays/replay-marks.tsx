/** Mark for the state of a replay, and its filter as text. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { shortTime } from '../parts/time.ts'
import type { Replay } from '../wire/api.d.ts'
import { texts } from './replays-texts.ts'

export const markOf = (status: Replay['status']): string => (status === 'running' ? 'queued' : status === 'finished' ? 'ok' : 'canceled')

export const ReplayStatus = ({ status }: Pick<Replay, 'status'>): JSX.Element => (
  <span class="status">
    <Mark name={markOf(status)} />
    {texts().statuses[status]}
  </span>
)

/** Returns the name of a destination, or its id if the name is unknown. */
export type NameOf = (id: string) => string

export function useDestinationNames(): NameOf {
  const { rows } = useAll('/v1/destinations', {})
  return (id) => plain(rows.find((one) => one.id === id)?.name ?? id)
}

interface FilterTextProps {
  readonly replay: Replay
  readonly nameOf: NameOf
}

/** Formats `to ada@example.org · since 12:04`. Omits an end time that equals the creation time. */
export function FilterText({ replay: { filter, created_at: made }, nameOf }: FilterTextProps): JSX.Element {
  const { filterParts: w, allFailed } = texts()
  const isUntilGiven = made !== null && Math.abs(Date.parse(filter.until) - Date.parse(made)) > 2000
  const parts = [
    ...(filter.to === null ? [] : [`${w.to} ${filter.to}`]),
    ...(filter.from === null ? [] : [`${w.from} ${filter.from}`]),
    ...(filter.destination_id === null ? [] : [`${w.via} ${nameOf(filter.destination_id)}`]),
    ...(filter.since === null ? [] : [`${w.since} ${shortTime(filter.since)}`]),
    ...(isUntilGiven ? [`${w.until} ${shortTime(filter.until)}`] : []),
  ]
  return <SafeText text={parts.length === 0 ? allFailed : parts.join(' · ')} />
}
