/** Selects the destination of an environment: live before sandbox, healthy before down, then by smallest priority and age. Pure. */
import { isOpenTo } from '../../access/principal/project-choice.ts'
import type { Destination } from '../destination.ts'

/** Current health of destinations. */
export interface DestinationHealth {
  /** Milliseconds until the circuit breaker allows another attempt; 0 if it allows one now. */
  restMs(destination: Destination): number
}

/** The selected destination, and destinations with precedence that are down. */
export interface Choice {
  readonly destination: Destination
  readonly skipped: readonly Destination[]
}

type Destinations = ReadonlyMap<string, Destination>

/** Destinations by environment in order of precedence, cached per settings. */
const ordered = new WeakMap<Destinations, ReadonlyMap<string, readonly Destination[]>>()

/** Undefined if the project can use no destination of the environment. */
export function chooseInEnvironment(
  destinations: Destinations,
  projectId: string,
  environment: string,
  health: DestinationHealth,
): Choice | undefined {
  const open = orderedIn(destinations, environment).filter((destination) => isOpenTo(destination, projectId))
  const live = open.filter(({ mode }) => mode === 'live')
  const destination = live.find((one) => health.restMs(one) === 0) ?? live[0] ?? open[0]
  if (!destination) return undefined
  return { destination, skipped: destination.mode === 'live' ? live.slice(0, live.indexOf(destination)) : [] }
}

/** Describes the selection in a sentence for the trace. `who` is the subject, for example "The request". */
export function describeChoice(who: string, environment: string, { destination, skipped }: Choice): string {
  const down = skipped.map(({ name }) => name).join(', ')
  const why = down === '' ? '' : ` (${down} ${skipped.length === 1 ? 'is' : 'are'} down now)`
  return `${who} selects the environment ${environment}, and its destination ${destination.name} (priority ${destination.priority})${why}.`
}

function orderedIn(destinations: Destinations, environment: string): readonly Destination[] {
  let byName = ordered.get(destinations)
  if (!byName) {
    const sorted = [...destinations.values()].toSorted(
      (a, b) => a.priority - b.priority || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1),
    )
    byName = Map.groupBy(sorted, (one) => one.environment ?? '')
    ordered.set(destinations, byName)
  }
  return byName.get(environment) ?? []
}
