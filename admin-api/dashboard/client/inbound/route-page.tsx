/** Page of an inbound route: received mail and webhook deliveries. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { call } from '../app/api.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { isStreaming, useChanges } from '../app/live.ts'
import { mayChange } from '../app/permissions.ts'
import { showFault, useRead } from '../app/query.ts'
import { HealthLine } from '../health/resource-health.tsx'
import { CopyButton, Tabs, useBusy } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { plain } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { Deliveries } from '../webhooks/deliveries.tsx'
import { Verify } from '../webhooks/verify.tsx'
import type { InboundRoute } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './inbound-texts.ts'
import { ReceivedMail, subjectOf } from './received-mail.tsx'
import { NoDomain, takenBy } from './route-address.tsx'
import { RouteMenu } from './route-menu.tsx'

const parts = ['mail', 'deliveries'] as const

export function RoutePage({ id }: { readonly id: string }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const read = useRead('/v1/inbound-routes/{id}', { path: { id } })
  const name = read.data ? takenBy(read.data) : ''
  const heading = (
    <>
      <a href={link('/incoming/routes')}>{common.inboundRoutes}</a>
      {name !== '' && <span class="cut">{name}</span>}
    </>
  )
  return (
    <>
      <TopBar title={name || common.inboundRoutes} heading={heading} isLive={isStreaming.value}>
        {mayChange.value && read.data && (
          <>
            <TestButton id={id} />
            <RouteMenu route={read.data} onChange={read.reload} />
          </>
        )}
      </TopBar>
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.routeFailed}>
          {(route) => (
            <>
              {route.address === null && <NoDomain />}
              <About route={route} />
              <HealthLine health={route.health} />
              <Verify />
              <Parts route={route} />
            </>
          )}
        </Show>
      </div>
    </>
  )
}

function TestButton({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const [isBusy, start] = useBusy()
  const test = async (): Promise<void> => {
    try {
      const { delivered, status_code: code, error } = await call('POST /v1/inbound-routes/{id}/test', { path: { id } })
      toast(delivered ? w.testArrived({ code: code ?? 0 }) : w.testFailed({ why: error ?? String(code) }))
    } catch (error) {
      showFault(error)
    }
  }
  return (
    <button class="button" aria-disabled={isBusy} onClick={() => start(test)} title={w.test}>
      <Icon name="destinations" />
      <span class="shell-label">{w.test}</span>
    </button>
  )
}

function About({ route }: { readonly route: InboundRoute }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const address = takenBy(route)
  return (
    <p class="endpoint">
      <span>
        {w.takes} <code>{address}</code>
        {route.address?.includes('*') === false && <CopyButton text={address} label={common.copy} />}
      </span>
      <span>
        {w.webhook} <code>{plain(route.webhook_url)}</code>
      </span>
      <span class="faint">
        {common.signedWith} <code>X-Service-Signature</code>
      </span>
      <a href="/docs/inbound-routes">{w.chapter}</a>
    </p>
  )
}

function Parts({ route }: { readonly route: InboundRoute }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const part = parts.find((one) => one === query.value.get('tab')) ?? 'mail'
  const labels = { mail: w.received, deliveries: common.deliveries }
  return (
    <>
      <Tabs
        label={w.parts}
        tabs={parts.map((id) => ({ id, label: labels[id] }))}
        value={part}
        onChoose={(id) => go(linkHere({ tab: id === 'mail' ? '' : id, q: '', status: '', code: '', attempt: '' }))}
      />
      <div role="tabpanel" aria-label={labels[part]}>
        {part === 'mail' && <ReceivedMail route={route} />}
        {part === 'deliveries' && <MailDeliveries route={route} />}
      </div>
    </>
  )
}

/** Webhook deliveries with the subjects of recent messages. */
function MailDeliveries({ route: { id, webhook_url: targetUrl } }: { readonly route: InboundRoute }): JSX.Element {
  const mail = useAll('/v1/inbound-routes/{id}/messages', { path: { id } })
  useChanges('webhook_deliveries', mail.reload)
  const subjects = new Map(mail.rows.map((one) => [one.webhook_attempt_id, subjectOf(one)]))
  return <Deliveries {...{ id, targetUrl, back: link('/incoming/routes') }} subjectOf={(attempt) => subjects.get(attempt) ?? attempt} />
}
