/** Dialog that releases a captured message to a live destination. It shows the recipients and the destination first. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { call } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { ChooseField, Dialog } from '../parts/controls.tsx'
import { Newest, type MaybeCut } from '../selection/newest.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { refusalReason } from '../reasons/reasons.ts'
import type { CapturedMessage, Destination, RoutingSimulation } from '../wire/api.d.ts'
import { texts } from './captures-texts.ts'

const maxNamed = 20
/** Maximum number of recipients that the preview checks for suppressions. The release itself checks all. */
const maxSimulated = 100

interface ReleaseProps {
  readonly inboxId: string
  readonly message: CapturedMessage
  readonly onClose: () => void
}

export function Release({ inboxId, message, onClose }: ReleaseProps): JSX.Element {
  const w = texts()
  const inbox = useRead('/v1/inboxes/{id}', { path: { id: inboxId } })
  const project = inbox.data?.project_id
  const list = useAll('/v1/destinations', project === undefined ? undefined : { query: { project } })
  if (inbox.state === 'failed' || list.read.state !== 'ready')
    return (
      <Dialog title={w.releaseTitle} onClose={onClose}>
        <Show
          read={inbox.state === 'failed' ? { state: 'failed', fault: inbox.fault } : list.read}
          reload={inbox.state === 'failed' ? inbox.reload : list.reload}
          failure={w.destinationsFailed}
          rows={3}
        >
          {() => null}
        </Show>
      </Dialog>
    )
  const live = list.read.data.filter(({ mode }) => mode === 'live')
  if (live.length === 0)
    return (
      <Dialog title={w.releaseTitle} onClose={onClose}>
        <State title={w.noLive} text={w.noLiveText}>
          <Newest of={list} />
          <div class="actions">
            <a class="button primary" href={link('/destinations')}>
              {w.releaseTo}
            </a>
          </div>
        </State>
      </Dialog>
    )
  return <Ask inboxId={inboxId} message={message} live={live} all={list} projectId={project ?? ''} onClose={onClose} />
}

interface AskProps extends ReleaseProps {
  readonly live: readonly Destination[]
  readonly all: MaybeCut
  readonly projectId: string
}

function Ask({ inboxId, message, live, all, projectId, onClose }: AskProps): JSX.Element {
  const w = texts()
  const { intended_from: from, intended_to: to } = message
  const [destination, setDestination] = useState(live.find(({ id }) => id === message.destination_id)?.id ?? live[0]?.id ?? '')
  const body = { from, to: to.slice(0, maxSimulated), destination_id: destination, project_id: projectId }
  const expected = useRead('POST /v1/routing/simulate', from === '' ? undefined : { body })
  const release = async (): Promise<void> => {
    const path = { id: inboxId, message_id: message.id }
    const { trace_id: traceId } = await call('POST /v1/inboxes/{id}/messages/{message_id}/release', {
      path,
      body: { destination_id: destination },
    })
    toast(w.releasedNow)
    onClose()
    go(link(`/traces/${traceId}`))
  }
  return (
    <FormDialog title={w.releaseTitle} submit={w.releaseNow({ n: to.length })} isDangerous onClose={onClose} onSubmit={release}>
      {(fault) => (
        <>
          <p class="lead">{w.releaseText}</p>
          <ChooseField
            label={w.releaseTo}
            value={destination}
            onChange={setDestination}
            of={all}
            options={live.map(({ id, name }) => [id, name])}
            fault={fault?.fields.get('destination_id')}
          />
          <div class="release-to" role="group" aria-label={w.recipients} tabIndex={0}>
            <b>{w.recipients}</b>
            <ul>
              {to.slice(0, maxNamed).map((address) => (
                <li key={address}>
                  <SafeText text={address} />
                </li>
              ))}
              {to.length > maxNamed && <li>{w.andMore({ n: to.length - maxNamed })}</li>}
            </ul>
          </div>
          {expected.data && <Expected expected={expected.data} />}
        </>
      )}
    </FormDialog>
  )
}

/** Expected obstacles at present. The service decides again on release. */
function Expected({ expected }: { readonly expected: RoutingSimulation }): JSX.Element | null {
  const w = texts()
  const { refusal, suppressed, steps } = expected
  const { used, limit } = steps.at(-1) ?? {}
  const own = refusal ? refusalReason(refusal.code, used, limit) : undefined
  if (refusal)
    return (
      <div class="note warn" role="status">
        <Mark name="refused" />
        <p>
          <b>{w.wouldRefuse}</b> {own ?? <span lang="en">{refusal.message}</span>}
        </p>
      </div>
    )
  if (suppressed.length === 0) return null
  return (
    <div class="note warn" role="status">
      <Mark name="suppressed" />
      <p>
        <b>{w.wouldSkip({ n: suppressed.length })}</b>{' '}
        <SafeText
          text={suppressed
            .slice(0, maxNamed)
            .map(({ address }) => address)
            .join(', ')}
        />
      </p>
    </div>
  )
}
