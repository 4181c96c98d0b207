/** Destinations that keep mail from going out, and what is wrong with them. */
import type { JSX } from 'preact'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { percent, shortTime } from '../parts/time.ts'
import type { Destination } from '../wire/operations.ts'
import { words } from '../words/words.ts'
import type { Healths } from './destination-healths.tsx'

export interface Trouble {
  readonly destination: Destination
  readonly isPaused: boolean
  readonly errorRate: number
  readonly reason: string | null
  readonly nextTrialAt: string | null
}

/** From this share of failed attempts on a destination is failing, and not only slow or unlucky. */
const failingFrom = 0.5
const attemptsMin = 3

/** Live destinations that get no mail, and after them those at which most attempts fail. */
export function troubledOf(destinations: readonly Destination[], healths: Healths): readonly Trouble[] {
  const all = destinations.flatMap((destination): readonly Trouble[] => {
    const health = healths.get(destination.id)
    if (destination.mode !== 'live' || !health) return []
    const { breaker, last_hour: hour } = health
    const isPaused = breaker.state !== 'closed'
    const isFailing = hour.attempts >= attemptsMin && hour.error_rate >= failingFrom
    if (!isPaused && !isFailing) return []
    return [{ destination, isPaused, errorRate: hour.error_rate, reason: breaker.reason, nextTrialAt: breaker.next_trial_at }]
  })
  return all.toSorted((a, b) => Number(b.isPaused) - Number(a.isPaused))
}

/** What keeps one from its work. */
export function Why({ destination: { name }, isPaused, errorRate, reason, nextTrialAt }: Trouble): JSX.Element {
  const w = words()
  return (
    <p>
      {w.failedInLastHour(plain(name), percent(errorRate))}{' '}
      {isPaused && reason !== null && (
        <span lang="en">
          <SafeText text={reason} />
        </span>
      )}{' '}
      {nextTrialAt !== null && w.nextTrial(shortTime(nextTrialAt))}
    </p>
  )
}
