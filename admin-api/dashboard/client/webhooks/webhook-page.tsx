/** Page of a webhook endpoint: deliveries with responses, next attempts and redelivery. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { isStreaming } from '../app/live.ts'
import { mayChange } from '../app/permissions.ts'
import { showFault, useRead } from '../app/query.ts'
import { HealthLine } from '../health/resource-health.tsx'
import { CopyButton } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { SecretDialog, type Secret } from '../parts/secret-dialog.tsx'
import { Show } from '../parts/states.tsx'
import { resourceMenu } from '../resource/row-acts.tsx'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { WebhookEndpoint } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { Deliveries } from './deliveries.tsx'
import { endpoints } from './endpoints.tsx'
import { formatHint, formatLabel } from './formats.ts'
import { EndpointDay } from './last-day.tsx'
import { Verify } from './verify.tsx'
import { texts as own } from './webhooks-texts.ts'

const EndpointMenu = resourceMenu(endpoints)

const Tools = ({ onRotate, onTest }: { readonly onRotate: () => void; readonly onTest: () => void }): JSX.Element => (
  <>
    <button class="button" onClick={onRotate} title={texts().rotateSecret}>
      <Icon name="refresh" />
      <span class="shell-label">{texts().rotateSecret}</span>
    </button>
    <button class="button" onClick={onTest} title={texts().sendTestEvent}>
      <Icon name="destinations" />
      <span class="shell-label">{texts().sendTestEvent}</span>
    </button>
  </>
)

export function WebhookPage({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead('/v1/webhooks/{id}', { path: { id } })
  const [isRotating, setRotating] = useState(false)
  const [secret, setSecret] = useState<Secret>()
  const [turn, setTurn] = useState(0)
  const test = async (): Promise<void> => {
    try {
      const { delivered, status_code: code, error } = await call('POST /v1/webhooks/{id}/test', { path: { id }, body: {} })
      toast(delivered ? w.testArrived({ code: code ?? 0 }) : w.testFailed({ why: error ?? String(code) }))
      setTurn(turn + 1)
    } catch (error) {
      showFault(error)
    }
  }
  const name = read.data?.name ?? ''
  const heading = (
    <>
      <a href={link('/settings/webhooks')}>{w.webhooks}</a>
      <SafeText text={name} />
    </>
  )
  return (
    <>
      <TopBar title={plain(name) || w.webhooks} heading={heading} isLive={isStreaming.value}>
        {mayChange.value && read.data && (
          <>
            <Tools onRotate={() => setRotating(true)} onTest={() => void test()} />
            <EndpointMenu row={read.data} onChange={read.reload} onRemoved={() => go(link('/settings/webhooks'))} />
          </>
        )}
      </TopBar>
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.endpointsFailed}>
          {(endpoint) => (
            <>
              <About endpoint={endpoint} />
              <HealthLine health={endpoint.health} />
              <EndpointDay id={id} />
              <Verify />
              <Deliveries
                key={turn}
                id={endpoint.id}
                targetUrl={endpoint.target_url}
                events={eventsOf(endpoint)}
                back={link('/settings/webhooks')}
              />
            </>
          )}
        </Show>
      </div>
      {isRotating && (
        <FormDialog
          title={w.rotateQuestion({ name: plain(name) })}
          submit={w.rotate}
          onClose={() => setRotating(false)}
          onSubmit={async () => {
            const { hmac_secret: next } = await call('POST /v1/webhooks/{id}/rotate-secret', { path: { id } })
            setRotating(false)
            setSecret({ title: w.newSecretOf({ name: plain(name) }), fields: [['hmac_secret', next]], note: w.webhookNote })
          }}
        >
          {() => <p>{w.rotateSecretText}</p>}
        </FormDialog>
      )}
      {secret && <SecretDialog secret={secret} onDone={() => setSecret(undefined)} />}
    </>
  )
}

function About({ endpoint }: { readonly endpoint: WebhookEndpoint }): JSX.Element {
  const w = texts()
  return (
    <p class="endpoint">
      <code>{plain(endpoint.target_url)}</code>{' '}
      <span>{endpoint.event_types.length === 0 ? w.everyEvent : endpoint.event_types.join(', ')}</span>{' '}
      {endpoint.paused && (
        <span class="tag bad">
          <Mark name="paused" />
          {w.paused}
        </span>
      )}{' '}
      {endpoint.format !== 'native' && (
        <span class="tag" title={formatHint(endpoint.format)}>
          {formatLabel(endpoint.format)}
        </span>
      )}{' '}
      <span class="faint">
        {w.signedWith} <code>X-Service-Signature</code>
      </span>
      {endpoint.header_names.length > 0 && (
        <span class="faint">
          {' '}
          {own().carries} <code>{endpoint.header_names.join(', ')}</code>
        </span>
      )}
      <Key endpoint={endpoint} />
    </p>
  )
}

/** Public key for signature verification. */
const Key = ({ endpoint: { verification_key: key } }: { readonly endpoint: WebhookEndpoint }): JSX.Element | null =>
  key === null ? null : (
    <span class="verification-key">
      {own().verificationKey} <code>{key.length > 80 ? `${key.slice(0, 60)}…` : key}</code> <CopyButton text={key} label={texts().copy} />
    </span>
  )

/** Returns the event types that the endpoint can receive. An empty list means all types. */
const eventsOf = ({ event_types: types }: WebhookEndpoint): readonly EventType[] => (types.length === 0 ? everyEvent : types)
type EventType = WebhookEndpoint['event_types'][number]
const everyEvent: readonly EventType[] = ['delivered', 'bounced', 'complained', 'failed', 'auto_suppressed']
