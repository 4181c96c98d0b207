/** Health of destinations within the last hour, from real delivery attempts. */
import type { JSX } from 'preact'
import { link, projectId } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { percent } from '../parts/time.ts'
import { listDestinationHealth, type Destination, type KnownDestinationHealth } from '../wire/operations.ts'
import { texts } from '../texts/texts.ts'

export type Healths = ReadonlyMap<string, KnownDestinationHealth>

const refreshMs = 15_000
const most = '200'

/** Returns the stored health by destination id, without calls to providers. Reads it again periodically. */
export function useHealths(): Healths {
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const { data } = useRead(listDestinationHealth, { query: { ...project, limit: most } }, { every: refreshMs })
  return new Map(data?.data.map((one) => [one.destination_id, one]))
}

/** Returns the mark of a destination. An open circuit breaker has priority over the mode. */
export const markOf = ({ mode }: Destination, health: KnownDestinationHealth | undefined): string =>
  health?.breaker.state === 'open' ? 'paused' : mode === 'sandbox' ? 'sandbox' : health && health.last_hour.errors > 0 ? 'warning' : 'ok'

/** Sorts destinations: paused, with errors, with attempts, other live ones, and sandbox ones last. */
export function urgentFirst(destinations: readonly Destination[], healths: Healths): readonly Destination[] {
  const rank = (one: Destination): number => {
    const health = healths.get(one.id)
    const mark = markOf(one, health)
    if (mark !== 'ok' || !health) return mark === 'paused' ? 0 : mark === 'warning' ? 1 : mark === 'ok' ? 3 : 4
    return health.last_hour.attempts > 0 ? 2 : 3
  }
  return destinations.toSorted((a, b) => rank(a) - rank(b))
}

/** The list of destinations shows the remaining ones. */
const mostShown = 12

export function DestinationHealths({
  destinations,
  areAll,
  healths,
  stripOf,
}: {
  readonly destinations: readonly Destination[]
  /** Whether the list is complete. */
  readonly areAll: boolean
  readonly healths: Healths
  /** Renders the last day of a destination in addition to the last hour. */
  readonly stripOf?: ((destination: Destination) => JSX.Element) | undefined
}): JSX.Element {
  const w = texts()
  const shown = urgentFirst(destinations, healths).slice(0, mostShown)
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
          const mark = markOf(destination, health)
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
                    : w.errorsAndLatency({ errors: percent(health.last_hour.error_rate), p95: health.last_hour.p95_ms ?? 0 }))}
              </span>
              {stripOf?.(destination)}
            </li>
          )
        })}
      </ul>
    </section>
  )
}
