/** Mark for the state of a queue action, and its filter as text. */
import type { JSX } from 'preact'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { shortTime } from '../parts/time.ts'
import type { QueueAct, QueueHold } from '../wire/api.d.ts'
import type { HoldFilter } from './filter.ts'
import { texts } from './queue-texts.ts'

export const markOf = (status: QueueAct['status']): string => (status === 'running' ? 'queued' : status === 'finished' ? 'ok' : 'canceled')

export const ActStatus = ({ status }: Pick<QueueAct, 'status'>): JSX.Element => (
  <span class="status">
    <Mark name={markOf(status)} />
    {texts().statuses[status]}
  </span>
)

/** Formats `to example.org · accepted before 12:04`. Omits an end time that equals the creation time. */
export function FilterText({ act: { filter, created_at: made } }: { readonly act: QueueAct }): JSX.Element {
  const { parts: w, chosen, everything } = texts()
  const before = filter.accepted_before
  const isEndGiven = before !== null && made !== null && Math.abs(Date.parse(before) - Date.parse(made)) > endMs
  const given = [
    ...(filter.trace_ids === null ? [] : [chosen({ n: filter.trace_ids.length })]),
    ...meantBy(filter),
    ...(filter.held_by === null ? [] : [`${w.heldBy} ${filter.held_by}`]),
    ...(filter.min_attempts === null ? [] : [`${w.attempts} ${filter.min_attempts}`]),
    ...(filter.accepted_after === null ? [] : [`${w.after} ${shortTime(filter.accepted_after)}`]),
    ...(isEndGiven ? [`${w.before} ${shortTime(before)}`] : []),
  ]
  return <SafeText text={given.length === 0 ? everything : given.join(' · ')} />
}

/** Filter of a standing hold as text. */
export function HoldText({ filter }: { readonly filter: HoldFilter | QueueHold['filter'] }): JSX.Element {
  const given = meantBy(filter)
  return <SafeText text={given.length === 0 ? texts().allMail : given.join(' · ')} />
}

function meantBy({
  to_domain: domain,
  from,
  destination_id: destination,
  project_id: project,
}: HoldFilter | QueueHold['filter']): string[] {
  const w = texts().parts
  const parts = [
    [w.to, domain],
    [w.from, from],
    [w.via, destination],
    [w.project, project],
  ] as const
  return parts.flatMap(([word, value]) => (value == null ? [] : [`${word} ${value}`]))
}

/** Maximum time between the dry run and the action. */
const endMs = 120_000
