/** Number of queued messages by destination. */
import type { JSX } from 'preact'
import { linkHere } from '../app/location.ts'
import { projects } from '../app/projects.ts'
import { SafeText } from '../parts/safe-text.tsx'
import { number } from '../parts/time.ts'
import { useSide } from '../queue-side/queue-side.ts'
import type { QueueCounts } from '../wire/api.d.ts'
import type { NamedDestination } from './filter.ts'
import { DestinationName } from './queued-cells.tsx'
import { texts } from './queue-texts.ts'

interface CountsProps {
  readonly counts: QueueCounts
  readonly destinations: readonly NamedDestination[]
}

export function Counts({ counts: { count, held, complete, lanes }, destinations }: CountsProps): JSX.Element | null {
  const w = texts()
  const project = useSide().organization === undefined ? 'project' : 'of_project'
  if (count === 0) return null
  return (
    <>
      <div class="say">
        <h2>{w.say({ n: count, held, isMore: !complete })}</h2>
        <p>{w.sayText}</p>
      </div>
      <Parts
        lanes={lanes}
        destinations={destinations}
        linksTo={({ destination_id: destination, project_id: of }) => linkHere({ destination, [project]: of })}
      />
    </>
  )
}

type Part = QueueCounts['lanes'][number]

interface PartsProps extends Pick<CountsProps, 'destinations'> {
  readonly lanes: readonly Part[]
  /** Returns the URL of the list, limited to this part. */
  readonly linksTo?: (lane: Part) => string
}

export function Parts({ lanes, destinations, linksTo }: PartsProps): JSX.Element {
  const w = texts()
  const nameOf = (id: string): string => projects.value.find((one) => one.id === id)?.name ?? id
  return (
    <ul class="queue-lanes" aria-label={w.lanes}>
      {lanes.map((lane) => {
        const inside = (
          <>
            <DestinationName id={lane.destination_id} among={destinations} /> · <SafeText text={nameOf(lane.project_id)} />
          </>
        )
        return (
          <li key={`${lane.destination_id} ${lane.project_id}`}>
            <span class="cut">{linksTo ? <a href={linksTo(lane)}>{inside}</a> : inside}</span>
            <b>{number(lane.count)}</b>
            <span class="soft">{lane.held > 0 && `${w.held} ${number(lane.held)}`}</span>
          </li>
        )
      })}
    </ul>
  )
}
