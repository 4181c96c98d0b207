/** Destinations with their open findings, and their figures of the last day. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { mostFigures } from '../app/query.ts'
import { markOf, urgentFirst } from '../health/destination-health.ts'
import { HealthStrip, lastDay, stripText, type Health } from '../health/health-strip.tsx'
import { rate } from '../health/rate.ts'
import type { Troubles } from '../findings/finding-order.ts'
import { useInsight, useSpan } from '../insights/reading.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Bone } from '../parts/states.tsx'
import { number } from '../parts/time.ts'
import type { Destination } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'

/** The screen of destinations shows the remaining ones. */
const mostShown = 12

interface ListProps {
  /** Undefined until they are loaded. */
  readonly destinations: readonly Destination[] | undefined
  /** Whether the list is complete. */
  readonly areAll: boolean
  readonly troubles: Troubles
}

export function DestinationList({ destinations, areAll, troubles }: ListProps): JSX.Element {
  const w = texts()
  const { now } = useSpan()
  const day = useInsight('/v1/insights/destinations', lastDay(now), { first: mostFigures })
  const healthOf = (id: string): Health | undefined => day.data?.data.find((one) => one.destination_id === id)
  const isCut = destinations !== undefined && destinations.length > mostShown
  // the order of a short list does not depend on the figures, so that no row moves when they arrive
  const isShown = destinations && (!isCut || day.state !== 'loading' || day.data !== undefined)
  const isInUse = (id: string): boolean => !isCut || (healthOf(id)?.totals.attempts ?? 0) > 0
  return (
    <section aria-labelledby="destinations">
      <div class="head">
        <h2 id="destinations">{w.destinations}</h2> <span class="faint">{w.inADay}</span>
        <a href={link('/destinations')}>
          {w.allOf({ count: number(destinations?.length ?? 0), isCounted: destinations !== undefined && areAll })}
        </a>
      </div>
      {!areAll && destinations && <p class="healths-shown faint">{w.newestDestinations({ many: destinations.length })}</p>}
      <ul class="healths">
        {isShown
          ? urgentFirst(destinations, troubles, isInUse)
              .slice(0, mostShown)
              .map((one) => (
                <Row
                  key={one.id}
                  destination={one}
                  mark={markOf(one, troubles)}
                  health={healthOf(one.id)}
                  isKnown={day.data !== undefined}
                />
              ))
          : Array.from({ length: Math.min(mostShown, destinations?.length ?? 3) }, (_, at) => (
              <li key={at}>
                <i />
                <Bone isLong />
                <svg class="strip" />
              </li>
            ))}
      </ul>
    </section>
  )
}

interface RowProps {
  readonly destination: Destination
  readonly mark: string
  readonly health: Health | undefined
  /** Whether the figures are loaded. */
  readonly isKnown: boolean
}

function Row({ destination: { id, name, mode }, mark, health, isKnown }: RowProps): JSX.Element {
  const w = texts()
  const { attempts = 0, errors = 0, p95_ms: p95 = null } = health?.totals ?? {}
  return (
    <li>
      <Mark name={mark} />
      <a class="cut" href={link(`/destinations/${id}`)}>
        <SafeText text={name} />
      </a>
      <span class={mark === 'paused' ? 'bad' : 'faint'}>{mark === 'paused' ? w.paused : mode === 'sandbox' && mode}</span>
      <span class="num faint">
        {mode === 'sandbox' && mayChange.value && <a href={link(`/destinations/${id}/go-live`)}>{w.promoteToLive}</a>}
        {isKnown &&
          mode === 'live' &&
          (attempts === 0 ? w.noAttempts : w.errorsAndLatency({ errors: rate(errors, attempts), p95: p95 ?? 0 }))}
      </span>
      <HealthStrip health={health} label={stripText(plain(name), health?.totals)} />
    </li>
  )
}
