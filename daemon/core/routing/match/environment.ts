/** Which destination of an environment takes a message: live before sandboxed, healthy before down, smallest priority, older. Pure. */
import { isOpenTo } from '../../access/principal/project-choice.ts'
import type { Destination } from '../destination.ts'

/** How destinations are now. */
export interface DestinationHealth {
  /** Milliseconds until the circuit breaker lets another attempt through; 0 when it does now. */
  restMs(destination: Destination): number
}

/** The destination that takes it, and those that come before it by priority but cannot take mail now. */
export interface Choice {
  readonly destination: Destination
  readonly skipped: readonly Destination[]
}

type Destinations = ReadonlyMap<string, Destination>

/** By name, in the order in which they are taken; made once for the settings of an organization. */
const ordered = new WeakMap<Destinations, ReadonlyMap<string, readonly Destination[]>>()

/** Undefined when no destination that is open to the project has the environment. */
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

/** What was chosen, as a sentence for the trace. `who` names the environment: "The request". */
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
