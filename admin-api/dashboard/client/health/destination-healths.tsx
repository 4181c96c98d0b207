/** Destinations with their open findings, and their figures of the last hour. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { link, projectId } from '../app/location.ts'
import { byDestination, markOf as markOfFinding, type Troubles } from '../findings/finding-order.ts'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { rate } from './rate.ts'
import type { Destination, KnownDestinationHealth } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'

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

/** Sorts destinations: with findings, with attempts in the last hour, other live ones, and sandbox ones last. */
export function urgentFirst(destinations: readonly Destination[], troubles: Troubles, healths: Healths): readonly Destination[] {
  const troubled = [...troubles.keys()]
  const rank = ({ id, mode }: Destination): number => {
    if (troubles.has(id)) return troubled.indexOf(id) - troubled.length
    if (mode === 'sandbox') return 2
    return (healths.get(id)?.last_hour.attempts ?? 0) > 0 ? 0 : 1
  }
  return destinations.toSorted((a, b) => rank(a) - rank(b))
}

/** The list of destinations shows the remaining ones. */
const mostShown = 12

export function DestinationHealths({
  destinations,
  areAll,
  healths,
  troubles,
  stripOf,
}: {
  readonly destinations: readonly Destination[]
  /** Whether the list is complete. */
  readonly areAll: boolean
  readonly healths: Healths
  readonly troubles: Troubles
  /** Renders the last day of a destination in addition to the last hour. */
  readonly stripOf?: ((destination: Destination) => JSX.Element) | undefined
}): JSX.Element {
  const w = texts()
  const shown = urgentFirst(destinations, troubles, healths).slice(0, mostShown)
  return (
    <section aria-labelledby="healths">
      <div class="head">
        <h2 id="healths">{w.destinations}</h2> <span class="faint">{w.lastHour}</span>
        {destinations.length > shown.length && <a href={link('/destinations')}>{w.allDestinations}</a>}
      </div>
      {!areAll && <p class="healths-shown faint">{w.newestDestinations({ many: destinations.length })}</p>}
      <ul class="healths">
        {shown.map((destination) => {
          const health = healths.get(destination.id)
          const mark = markOf(destination, troubles)
          return (
            <li key={destination.id}>
              <Mark name={mark} />
              <a class="cut" href={link('/traces', { destination_id: destination.id })}>
                <SafeText text={destination.name} />
              </a>
              <span class={mark === 'paused' ? 'bad' : 'faint'}>{mark === 'paused' ? w.paused : destination.mode}</span>
              <span class="num faint">
                {health &&
                  (health.last_hour.attempts === 0
                    ? w.noAttempts
                    : w.errorsAndLatency({
                        errors: rate(health.last_hour.errors, health.last_hour.attempts),
                        p95: health.last_hour.p95_ms ?? 0,
                      }))}
              </span>
              {stripOf?.(destination)}
            </li>
          )
        })}
      </ul>
    </section>
  )
}
