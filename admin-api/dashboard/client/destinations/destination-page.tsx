/** Page of a destination: settings, health, connection test and actions. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { showFault, useRead, type Reading } from '../app/query.ts'
import { CopyButton } from '../parts/controls.tsx'
import { EndDialog } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { longTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { destinationOf, inOrder } from '../findings/finding-order.ts'
import { FindingRow } from '../findings/finding-rows.tsx'
import { texts as findingTexts } from '../findings/findings-texts.ts'
import { BreakerReason } from '../reasons/breaker-reason.tsx'
import type { Destination, DestinationHealth, Finding } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { Mode, placeOf } from './destination-texts.tsx'
import { EditDestination } from './edit-destination.tsx'
import { texts as own } from './evidence-texts.ts'
import { Evidence } from './evidence.tsx'
import { Probe } from './probe.tsx'

export function DestinationPage({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead('/v1/destinations/{id}', { path: { id } }, { isShown: true })
  const findings = useFindings()
  const health = useRead('/v1/destinations/{id}/health', { path: { id } }, { every: 15_000 })
  const [isEnding, setEnding] = useState(false)
  const [isEditing, setEditing] = useState(false)
  const destination = read.data
  const heading = (
    <>
      <a href={link('/destinations')}>{w.destinations}</a>
      <SafeText text={destination?.name ?? ''} />
    </>
  )
  return (
    <>
      <TopBar title={destination ? plain(destination.name) : w.destination} heading={heading}>
        {destination && mayChange.value && <ModeAction destination={destination} onChange={read.reload} />}
      </TopBar>
      <div class="sheet">
        <Show read={findings.state === 'loading' ? { state: 'loading' } : read} reload={read.reload} failure={w.destinationFailed}>
          {(one) => (
            <div class="columns">
              <section aria-label={w.destination}>
                <Findings id={id} findings={findings.data?.data ?? []} />
                <Settings destination={one} />
                {mayChange.value && <Probe id={id} />}
                <Evidence id={id} from={one.from} />
                {mayChange.value && <Actions onEdit={() => setEditing(true)} onEnd={() => setEnding(true)} />}
              </section>
              <aside aria-label={w.health}>
                <Show read={health} reload={health.reload} failure={w.healthFailed} rows={3}>
                  {(data) => <Health health={data} />}
                </Show>
              </aside>
            </div>
          )}
        </Show>
      </div>
      {isEnding && destination && (
        <EndDialog
          title={w.deleteDestination}
          effects={[w.deleteDestinationEffect, w.deleteDestinationTraces]}
          name={destination.name}
          submit={w.deleteDestination}
          onClose={() => setEnding(false)}
          onSubmit={async () => {
            await call('DELETE /v1/destinations/{id}', { path: { id } })
            toast(w.deleted({ name: plain(destination.name) }))
            go(link('/destinations'))
          }}
        />
      )}
      {isEditing && destination && <EditDestination destination={destination} onClose={() => setEditing(false)} onDone={read.reload} />}
    </>
  )
}

const Actions = ({ onEdit, onEnd }: { readonly onEdit: () => void; readonly onEnd: () => void }): JSX.Element => (
  <div class="block">
    <div class="actions">
      <button class="button" onClick={onEdit}>
        {own().edit}
      </button>
      <button class="button danger" onClick={onEnd}>
        {texts().deleteDestination}
      </button>
    </div>
  </div>
)

function useFindings(): Reading<{ readonly data: readonly Finding[] }> {
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  return useRead('/v1/findings', { query: { ...project, state: 'open', group: 'delivery' } }, { every: 15_000 })
}

/** Open findings of the destination with their remedies. */
function Findings({ id, findings }: { readonly id: string; readonly findings: readonly Finding[] }): JSX.Element | null {
  const shown = inOrder(findings.filter((one) => one.kind.startsWith('destination.') && destinationOf(one) === id))
  if (shown.length === 0) return null
  return (
    <ul class="look whole" aria-label={findingTexts().findings}>
      {shown.map((finding) => (
        <FindingRow key={finding.id} finding={finding} hasFix />
      ))}
    </ul>
  )
}

/** Button that changes the mode. Going live is a flow with its own address; demotion happens at once and can be undone. */
function ModeAction({
  destination: { id, mode },
  onChange,
}: {
  readonly destination: Destination
  readonly onChange: () => void
}): JSX.Element {
  const w = texts()
  const change = async (next: 'sandbox' | 'live'): Promise<void> => {
    try {
      await call('PATCH /v1/destinations/{id}/mode', { path: { id }, body: { mode: next } })
      onChange()
      toast(next === 'sandbox' ? w.isInSandbox : w.isLiveAgain, next === 'sandbox' ? () => void change('live') : undefined)
    } catch (error) {
      showFault(error)
    }
  }
  return mode === 'live' ? (
    <button class="button" onClick={() => void change('sandbox')}>
      {w.backToSandbox}
    </button>
  ) : (
    <a class="button primary" href={link(`/destinations/${id}/go-live`)}>
      {w.promoteToLive}
    </a>
  )
}

function Settings({ destination }: { readonly destination: Destination }): JSX.Element {
  const w = texts()
  const rows: readonly (readonly [string, JSX.Element | string])[] = [
    [w.mode, <Mode mode={destination.mode} />],
    ['provider', placeOf(destination)],
    ['from', destination.from ?? '–'],
    ['environment', destination.environment ?? '–'],
    ['priority', String(destination.priority)],
    ['scope', destination.scope],
    ...Object.entries(destination.credentials).flatMap(([name, value]) =>
      typeof value === 'object' ? [] : [[name, String(value)] as const],
    ),
    ['max_connections', String(destination.max_connections)],
    ['max_rate_per_min', destination.max_rate_per_min === null ? '–' : String(destination.max_rate_per_min)],
    ['id', destination.id],
  ]
  return (
    <div class="block">
      <h2>
        <SafeText text={destination.name} />
      </h2>
      <dl class="facts">
        {rows.map(([name, value]) => (
          <>
            <dt class={name === w.mode ? '' : 'mono'}>{name}</dt>
            <dd class={name === w.mode ? '' : 'mono'}>
              {value}
              {name === 'id' && <CopyButton text={destination.id} label={w.copyId} />}
            </dd>
          </>
        ))}
      </dl>
      <p>
        <a href={link('/traces', { destination_id: destination.id })}>{w.tracesOfIt}</a>
      </p>
    </div>
  )
}

/** Returns the time of the next trial. After that time, the next message is the trial. */
const nextTrialText = (at: string): string => (Date.parse(at) > Date.now() ? texts().nextTrial({ at: longTime(at) }) : texts().trialIsDue)

function Health({ health }: { readonly health: DestinationHealth }): JSX.Element {
  const w = texts()
  const checks = [
    [w.reachable, health.reachability],
    ['TLS', health.tls],
    [w.login, health.auth],
  ] as const
  const { breaker, last_hour: hour } = health
  return (
    <div class="block">
      <h2>{w.health}</h2>
      {breaker.state !== 'closed' && (
        <div class="note bad">
          <Mark name="paused" />
          <p>
            <b>{w.paused}</b> <BreakerReason cause={breaker.cause} />{' '}
            {breaker.next_trial_at !== null && nextTrialText(breaker.next_trial_at)}
          </p>
        </div>
      )}
      <ul class="checks">
        {checks.map(([name, { ok, detail }]) => (
          <li key={name}>
            <Mark name={ok === null ? 'none' : ok ? 'ok' : 'failed'} />
            <div>
              <b>{name}</b>
              <p lang="en">
                <SafeText text={detail} />
              </p>
            </div>
          </li>
        ))}
      </ul>
      <dl class="facts">
        <dt>{w.attemptsLastHour}</dt>
        <dd>{hour.attempts}</dd>
        <dt>{w.errors}</dt>
        <dd>{hour.errors}</dd>
        <dt>p50 / p95</dt>
        <dd>{hour.p50_ms === null ? '–' : `${String(hour.p50_ms)} / ${String(hour.p95_ms)} ms`}</dd>
      </dl>
    </div>
  )
}
