/** Whether mail is fine, in one sentence with the worst thing first, and what that means for mail. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { SafeText } from '../parts/safe-text.tsx'
import { number } from '../parts/time.ts'
import type { DeliveryInsight, Destination, TraceSummary } from '../wire/operations.ts'
import { words } from '../words/words.ts'
import type { Healths } from '../health/destination-healths.tsx'
import { ProjectState } from './project-state.tsx'
import { troubledOf, Why, type Trouble } from '../health/trouble.tsx'

interface VerdictProps {
  readonly destinations: readonly Destination[]
  readonly healths: Healths
  readonly traces: readonly TraceSummary[]
  /** Messages of agents that wait for the approval of a member. */
  readonly held: number
  readonly day: DeliveryInsight | undefined
}

/** Of those that have trouble, so many are explained. */
const shownInFull = 3

export function Verdict({ destinations, healths, traces, held, day }: VerdictProps): JSX.Element {
  const w = words()
  const waiting = traces.filter(({ status }) => status === 'queued').length
  const relayed = traces.filter(({ outcome }) => outcome === 'relayed')
  const lost = relayed.filter(({ status }) => status === 'bounced' || status === 'failed').length
  const troubled = troubledOf(destinations, healths)
  return (
    <div class="say">
      <h2>
        {troubled.length > 0 ? (
          <Troubled all={destinations} troubled={troubled} />
        ) : (
          (tooMuch(day) ?? (lost > 0 ? w.mailIsGoingOut : w.allMailGoesOut))
        )}
      </h2>
      {troubled.slice(0, shownInFull).map((one) => (
        <Why key={one.destination.id} {...one} />
      ))}
      {lost > 0 && (
        <p>
          {w.bouncedOrFailed}: {number(lost)} {w.ofLatestRelayed(relayed.length)}
        </p>
      )}
      {held > 0 && (
        <p>
          <a href={link('/traces', { status: 'pending' })}>{w.awaitingApproval(held)}</a>
        </p>
      )}
      <p>{waiting > 0 ? w.waitingOfLatest(waiting, traces.length) : w.nothingWaits}</p>
      <ProjectState />
    </div>
  )
}

function Troubled({ all, troubled }: { readonly all: readonly Destination[]; readonly troubled: readonly Trouble[] }): JSX.Element {
  const w = words()
  const [first] = troubled
  const isNothing = troubled.filter(({ isPaused }) => isPaused).length === all.filter(({ mode }) => mode === 'live').length
  return (
    <>
      {isNothing ? w.nothingGoesOut : w.mailIsGoingOut}{' '}
      {first && (
        <>
          <a class="bad" href={link(`/destinations/${first.destination.id}`)}>
            <SafeText text={first.destination.name} />
          </a>{' '}
          {first.isPaused ? w.isPaused : w.isFailing}
        </>
      )}
    </>
  )
}

/** Rates of few recipients say nothing. */
const recipientsMin = 50

/** More than mailbox providers put up with; the lines of the plots. */
function tooMuch(day: DeliveryInsight | undefined): string | undefined {
  const w = words()
  if (!day) return undefined
  const { taken, failed, bounced, complained } = day.totals
  const all = taken + failed
  if (all < recipientsMin) return undefined
  return complained / all > 0.003 ? w.tooManyComplaints : bounced / all > 0.05 ? w.tooManyBounces : undefined
}
