/** Verdict on the mail in one sentence, the most severe problem first. It uses counters and never reads messages. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import type { Healths } from '../health/destination-healths.tsx'
import { troubledOf, Why, type Trouble } from '../health/trouble.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { number, span } from '../parts/time.ts'
import type { Destination, QueueCounts } from '../wire/operations.ts'
import { texts } from '../texts/texts.ts'
import { alarming, isQuiet, lastHour, lateBy, lostInHour, type Figures, type Share } from './judgement.ts'
import { ProjectState } from './project-state.tsx'

interface VerdictProps {
  readonly destinations: readonly Destination[]
  readonly healths: Healths
  /** Number of agent messages that wait for the approval of a member. */
  readonly held: number
  /** Undefined until all figures are loaded. */
  readonly figures: Figures | undefined
  readonly queue: QueueCounts | undefined
  /** Number of webhook deliveries parked within the last day. */
  readonly parked: number
  /** Number of messages captured within the last day despite a live destination of their project. */
  readonly unrouted: number
  /** Whether no provider has ever accepted a message. */
  readonly isFirst: boolean
}

/** Maximum number of troubled destinations with an explanation. */
const shownInFull = 3

export function Verdict({ destinations, healths, held, figures, queue, parked, unrouted, isFirst }: VerdictProps): JSX.Element {
  const w = texts()
  const troubled = troubledOf(destinations, healths)
  const found = [
    ...(unrouted > 0 ? [<Unrouted key="unrouted" count={unrouted} destinations={destinations} />] : []),
    ...(figures ? findings(figures) : []),
  ]
  const isNamed = troubled.length > 0
  return (
    <div class="say">
      <h2>{isNamed ? <Troubled all={destinations} troubled={troubled} /> : (found[0] ?? <Fine figures={figures} isFirst={isFirst} />)}</h2>
      {troubled.slice(0, shownInFull).map((one) => (
        <Why key={one.destination.id} {...one} />
      ))}
      {found.slice(isNamed ? 0 : 1).map((one, at) => (
        <p key={at} class="warn">
          {one}
        </p>
      ))}
      {unrouted > 0 && mayChange.value && (
        <p>
          <a href={link('/routing', { new: '1' })}>{w.addRule}</a>
        </p>
      )}
      {figures && <Hour figures={figures} isNamed={found.length > 0} />}
      {parked > 0 && (
        <p class="warn">
          <a href={link('/webhooks')}>{w.webhooksParked({ parked })}</a>
        </p>
      )}
      {held > 0 && (
        <p>
          <a href={link('/traces', { status: 'pending' })}>{w.awaitingApproval({ waiting: held })}</a>
        </p>
      )}
      {queue && <Waits queue={queue} />}
      <ProjectState />
    </div>
  )
}

/** Link to messages that were captured despite a live destination. */
function Unrouted({ count, destinations }: { readonly count: number; readonly destinations: readonly Destination[] }): JSX.Element {
  const w = texts()
  const live = destinations.filter(({ mode }) => mode === 'live')
  const since = new Date(Date.now() - 24 * hourMs).toISOString()
  return (
    <a href={link('/traces', { outcome: 'captured.no_route', since })}>
      {w.unrouted({ some: number(count), count, name: live.length === 1 ? plain(live[0]?.name ?? '') : undefined })}
    </a>
  )
}

/** Returns the problems, each with a link to the affected messages. */
function findings(figures: Figures): readonly JSX.Element[] {
  const w = texts()
  const late = lateBy(figures, Date.now())
  const [first, ...others] = alarming(figures).map((share) => (
    <a key={share.what} href={link('/traces', tracesOf(share))}>
      {sentence(share)}
    </a>
  ))
  const waits = late !== undefined && (
    <a key="late" href={link('/queue')}>
      {w.mailIsLate({ time: span(late) })}
    </a>
  )
  return [...(first ? [first] : []), ...(waits ? [waits] : []), ...others]
}

const hourMs = 3_600_000

function tracesOf({ what, hours }: Share): Record<string, string> {
  const since = new Date(Date.now() - hours * hourMs).toISOString()
  if (what === 'refused') return { outcome: 'refused', since }
  return { status: what === 'deferred' ? 'queued' : what, since }
}

function sentence({ what, some, all, hours }: Share): string {
  const says = texts().tooMuch[what]
  return says({ some: number(some), all: some > all ? undefined : number(all), hours })
}

function Fine({ figures, isFirst }: { readonly figures: Figures | undefined; readonly isFirst: boolean }): JSX.Element {
  const w = texts()
  if (isFirst) return <>{w.noMailYet}</>
  if (!figures) return <span class="faint">{w.loading}</span>
  return <>{isQuiet(figures) ? w.nothingWasSent : lostInHour(figures) ? w.mailIsGoingOut : w.allMailGoesOut}</>
}

/** Figures of the last hour. Adds a sentence about losses unless the verdict contains one. */
function Hour({ figures, isNamed }: { readonly figures: Figures; readonly isNamed: boolean }): JSX.Element | null {
  const { taken, failed, deferred } = lastHour(figures)
  const lost = isNamed ? undefined : lostInHour(figures)
  if (taken + failed + deferred === 0) return null
  return (
    <p>
      {texts().hourSays({ taken: number(taken), failed: number(failed), deferred: number(deferred) })} {lost && sentence(lost)}
    </p>
  )
}

function Waits({ queue: { count, held, complete, waiting_since: since } }: { readonly queue: QueueCounts }): JSX.Element {
  const w = texts()
  const waited = since === null ? 0 : Math.max(0, Date.now() - Date.parse(since))
  if (count === 0) return <p>{w.nothingWaits}</p>
  return (
    <p>
      <a href={link('/queue')}>
        {w.waitsInQueue({ shown: complete ? number(count) : `> ${number(count)}`, count, time: span(Math.max(1000, waited)) })}
      </a>{' '}
      {held > 0 && w.ofThemHeld({ held: number(held) })}
    </p>
  )
}

function Troubled({ all, troubled }: { readonly all: readonly Destination[]; readonly troubled: readonly Trouble[] }): JSX.Element {
  const w = texts()
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
