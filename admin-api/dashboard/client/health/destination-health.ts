/** Health of destinations: open findings, and figures of the last hour. */
import { useAll } from '../app/all.ts'
import { projectId } from '../app/location.ts'
import { byDestination, markOf as markOfFinding, type Troubles } from '../findings/finding-order.ts'
import type { Destination, KnownDestinationHealth } from '../wire/api.d.ts'

export type Healths = ReadonlyMap<string, KnownDestinationHealth>

const refreshMs = 15_000

/** Returns the stored health by destination id, without calls to providers. Reads it again periodically. */
export function useHealths(): Healths {
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const { rows } = useAll('/v1/destinations/health', { query: project }, { every: refreshMs })
  return new Map(rows.map((one) => [one.destination_id, one]))
}

/** Reads the open findings of destinations periodically. */
export function useTroubles(): { readonly troubles: Troubles; readonly isKnown: boolean } {
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const query = { ...project, state: 'open', group: 'delivery' } as const
  const { read, rows } = useAll('/v1/findings', { query }, { every: refreshMs })
  const troubles = byDestination(rows)
  return { isKnown: read.state !== 'loading', troubles }
}

/** Returns the mark of a destination: that of its finding, else of its mode. */
export const markOf = ({ id, mode }: Destination, troubles: Troubles): string => {
  const finding = troubles.get(id)
  return finding ? markOfFinding(finding) : mode === 'sandbox' ? 'sandbox' : 'ok'
}

/** Sorts destinations: with findings, other live ones in use, unused ones, and sandbox ones last. */
export function urgentFirst(
  destinations: readonly Destination[],
  troubles: Troubles,
  isInUse: (id: string) => boolean,
): readonly Destination[] {
  const troubled = [...troubles.keys()]
  const rank = ({ id, mode }: Destination): number => {
    if (troubles.has(id)) return troubled.indexOf(id) - troubled.length
    if (mode === 'sandbox') return 2
    return isInUse(id) ? 0 : 1
  }
  return destinations.toSorted((a, b) => rank(a) - rank(b))
}
