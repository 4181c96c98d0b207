/** Step 5 of going live: the first real mail, followed while it happens, then the next steps. */
import type { JSX } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import { call, type ApiFault } from '../app/api.ts'
import { boot } from '../app/boot.ts'
import { useChanges } from '../app/live.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { homeProject, projects } from '../app/projects.ts'
import { asFault, firstOf, useRead } from '../app/query.ts'
import { Diagnosis } from '../diagnosis/diagnosis.tsx'
import { useBusy } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { Gate } from '../overview/gate.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { plain } from '../parts/safe-text.tsx'
import { isWhole, refreshMsOf, TraceTimeline } from '../trace/trace-timeline.tsx'
import type { Destination, Trace } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { Flow } from './flow.tsx'
import { senderOf } from './sender-of.ts'
import { texts } from './going-live-texts.ts'

const lookEveryMs = 3000
const tracesRead = 10

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).replace(/>\s*$/, '')

/** Returns the followed trace: that of the address, else the first message since going live. */
function useFirstTrace({ id: destinationId, scope, project_id: owner, updated_at: liveSince }: Destination): Trace | undefined {
  const named = query.value.get('trace') ?? undefined
  const project = scope === 'org' ? homeProject()?.id : owner
  const latest = useRead(
    '/v1/traces',
    named === undefined && project !== undefined ? firstOf(tracesRead, { query: { project } }) : undefined,
    named === undefined ? { every: lookEveryMs } : {},
  )
  // messages of checks have a cause
  const own = latest.data?.data.filter((one) => one.created_at >= liveSince && one.outcome_cause === null)
  const found = own?.filter((one) => one.destination_id === destinationId || one.outcome === 'captured.no_route').at(-1)?.trace_id
  const [followed, follow] = useState<string>()
  if (followed === undefined && found !== undefined) follow(found)
  const id = named ?? followed
  const [settled, setSettled] = useState(false)
  const trace = useRead(
    '/v1/traces/{trace_id}',
    id === undefined ? undefined : { path: { trace_id: id } },
    settled ? {} : { every: lookEveryMs },
  )
  const refresh = useCallback((): void => {
    latest.refresh()
    trace.refresh()
  }, [])
  useChanges('traces', refresh)
  const whole = trace.data && isWhole(trace.data) ? trace.data : undefined
  const isSettled = whole !== undefined && refreshMsOf(whole) === undefined
  if (isSettled !== settled) setSettled(isSettled)
  return whole
}

export function FirstMail({ destination }: { readonly destination: Destination }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const name = plain(destination.name)
  const trace = useFirstTrace(destination)
  const project = plain(projects.value.find(({ id }) => id === destination.project_id)?.name ?? '')
  const isTaken = trace?.status === 'sent' || trace?.status === 'delivered'
  const isBad = trace?.status === 'failed' || trace?.status === 'bounced'
  return (
    <Flow
      step={5}
      results={{ 1: name, 2: senderOf(destination), 3: common.passed, 4: common.modeLive, ...(isTaken && { 5: common.done }) }}
      destination={destination}
    >
      <section aria-labelledby="first" aria-live="polite">
        <div class="say">
          <h2 id="first">{headingOf(name, trace)}</h2>
          <p>{trace ? w.goesTo({ to: trace.to.map(plain).join(', ') }) : w.firstText({ name })}</p>
          <Act destination={destination} trace={trace} />
        </div>
        <Gate isOpen={trace !== undefined && trace.status !== 'captured'}>
          <span>{project}</span>
          <b class="good">{w.isLive({ name })}</b>
          <span>{trace ? plain(trace.to[0] ?? '') : common.yourCustomers}</span>
        </Gate>
        {trace && <TraceTimeline trace={trace}>{isBad && <Diagnosis trace={trace} />}</TraceTimeline>}
        {trace && (
          <div class="block">
            <a href={link(`/traces/${trace.trace_id}`)}>{w.openTrace}</a>
          </div>
        )}
      </section>
      <aside aria-label={w.next}>
        <div class="block">
          <h2>{w.next}</h2>
          <ul class="next-links">
            <Next icon="keys" to={link('/settings/smtp-logins', { new: '1' })} label={w.connectSite} text={w.connectSiteText} />
            <Next icon="webhooks" to={link('/settings/webhooks', { new: '1' })} label={w.bounces} text={w.bouncesText} />
            <Next icon="replay" to={link('/routing', { view: 'failover', new: '1' })} label={w.fallback} text={w.fallbackText({ name })} />
            <Next icon="captures" to={link('/captures')} label={w.release} text={w.releaseText} />
          </ul>
        </div>
        <div class="block">
          <a class={isTaken ? 'button primary full' : 'button full'} href={link('/')}>
            {w.toOverview}
          </a>
        </div>
      </aside>
    </Flow>
  )
}

function headingOf(name: string, trace: Trace | undefined): string {
  const w = texts()
  if (!trace) return w.waitingFirst
  if (trace.outcome === 'captured.no_route') return w.captured({ sender: plain(trace.from || trace.mail_from) })
  switch (trace.status) {
    case 'delivered':
      return w.arrived
    case 'sent':
      return w.accepted({ name })
    case 'failed':
    case 'bounced':
      return w.refusedFirst({ name })
    case 'captured':
      return w.capturedElse
    default:
      return w.onItsWay
  }
}

interface ActProps {
  readonly destination: Destination
  readonly trace: Trace | undefined
}

/** The next action: send a test, or route the domain of a captured message. */
function Act({ destination, trace }: ActProps): JSX.Element | null {
  const w = texts()
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  if (!mayChange.value) return null
  const isUnrouted = trace?.outcome === 'captured.no_route'
  const isOver = trace !== undefined && refreshMsOf(trace) === undefined && trace.status !== 'delivered'
  if (trace && !isUnrouted && !isOver) return null
  const project = destination.scope === 'org' ? { project_id: homeProject()?.id ?? '' } : { project_id: destination.project_id }
  const run = async (): Promise<void> => {
    setFault(undefined)
    const common = allTexts()
    try {
      if (isUnrouted) {
        const match = domainOf(trace.from || trace.mail_from)
        await call('POST /v1/routing/rules', { body: { match, destination_id: destination.id, ...project } })
      }
      const text = common.testText
      const { trace_id: id } = await call('POST /v1/messages', {
        body: { ...project, from: senderOf(destination), to: [boot.email], subject: common.testSubject, text, html: `<p>${text}</p>` },
      })
      go(linkHere({ trace: id }), { replaces: true })
    } catch (error) {
      setFault(asFault(error))
    }
  }
  return (
    <>
      <div class="actions">
        <button class="button primary" aria-disabled={isBusy} onClick={() => start(run)}>
          {isUnrouted ? w.sendDomain({ name: plain(destination.name) }) : w.sendTo({ address: boot.email })}
        </button>
      </div>
      <Fault fault={fault} />
    </>
  )
}

interface NextProps {
  readonly icon: IconName
  readonly to: string
  readonly label: string
  readonly text: string
}

const Next = ({ icon, to, label, text }: NextProps): JSX.Element => (
  <li>
    <Icon name={icon} />
    <div>
      <a href={to}>{label}</a>
      <p class="soft">{text}</p>
    </div>
  </li>
)
