/** Destinations that delay or fail mail, with the reason. */
import type { JSX } from 'preact'
import { plain } from '../parts/safe-text.tsx'
import { percent, shortTime } from '../parts/time.ts'
import { BreakerReason } from '../reasons/breaker-reason.tsx'
import type { Destination, KnownDestinationHealth } from '../wire/operations.ts'
import { texts } from '../texts/texts.ts'
import type { Healths } from './destination-healths.tsx'
import { failing } from '#config/watch/limits.ts'

export interface Trouble {
  readonly destination: Destination
  readonly isPaused: boolean
  readonly errorRate: number
  readonly cause: KnownDestinationHealth['breaker']['cause']
  readonly nextTrialAt: string | null
}

/** Returns paused live destinations first, then live destinations at which most attempts fail. */
export function troubledOf(destinations: readonly Destination[], healths: Healths): readonly Trouble[] {
  const all = destinations.flatMap((destination): readonly Trouble[] => {
    const health = healths.get(destination.id)
    if (destination.mode !== 'live' || !health) return []
    const { breaker, last_hour: hour } = health
    const isPaused = breaker.state !== 'closed'
    const isFailing = hour.attempts >= failing.attempts && hour.error_rate >= failing.share
    if (!isPaused && !isFailing) return []
    return [{ destination, isPaused, errorRate: hour.error_rate, cause: breaker.cause, nextTrialAt: breaker.next_trial_at }]
  })
  return all.toSorted((a, b) => Number(b.isPaused) - Number(a.isPaused))
}

/** Returns the time of the next trial. After that time, the next message is the trial. */
export const nextTrialText = (at: string, timeOf: (at: string) => string): string =>
  Date.parse(at) > Date.now() ? texts().nextTrial({ at: timeOf(at) }) : texts().trialIsDue

/** Explains the problem of a destination. */
export function Why({ destination: { name }, isPaused, errorRate, cause, nextTrialAt }: Trouble): JSX.Element {
  const w = texts()
  return (
    <p>
      {w.failedInLastHour({ name: plain(name), share: percent(errorRate) })} {isPaused && <BreakerReason cause={cause} />}{' '}
      {nextTrialAt !== null && nextTrialText(nextTrialAt, shortTime)}
    </p>
  )
}
