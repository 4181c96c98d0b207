/** One endpoint with its deliveries: what was sent, what it answered, when the next attempt is, and sending it again. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { bind } from '../app/keys.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { isStreaming } from '../app/live.ts'
import { useNews } from '../app/new-entries.ts'
import { mayChange } from '../app/permissions.ts'
import { asFault, useList, useRead } from '../app/query.ts'
import { CopyButton, Pills } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { List, Moment, type Column } from '../parts/list.tsx'
import { Mark, Status } from '../parts/mark.tsx'
import { NewPill } from '../parts/new-pill.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { SecretDialog, type Secret } from '../parts/secret-dialog.tsx'
import { Show, State } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import {
  getWebhook,
  listWebhookAttempts,
  redeliverWebhookAttempt,
  rotateWebhookSecret,
  testWebhook,
  type WebhookAttempt,
  type WebhookEndpoint,
} from '../wire/operations.ts'
import { words } from '../words/words.ts'
import { Delivery } from './delivery.tsx'
import { EndpointMenu } from './endpoint-menu.tsx'
import { formatHint, formatLabel } from './formats.ts'
import { EndpointDay } from './last-day.tsx'
import { words as own } from './webhooks-words.ts'

const statuses = ['pending', 'succeeded', 'failed', 'parked'] as const

const Tools = ({ onRotate, onTest }: { readonly onRotate: () => void; readonly onTest: () => void }): JSX.Element => (
  <>
    <button class="button" onClick={onRotate} title={words().rotateSecret}>
      <Icon name="refresh" />
      <span class="shell-label">{words().rotateSecret}</span>
    </button>
    <button class="button" onClick={onTest} title={words().sendTestEvent}>
      <Icon name="destinations" />
      <span class="shell-label">{words().sendTestEvent}</span>
    </button>
  </>
)

export function WebhookPage({ id }: { readonly id: string }): JSX.Element {
  const w = words()
  const read = useRead(getWebhook, { path: { id } })
  const [isRotating, setRotating] = useState(false)
  const [secret, setSecret] = useState<Secret>()
  const [turn, setTurn] = useState(0)
  const test = async (): Promise<void> => {
    try {
      const { delivered, status_code: code, error } = await call(testWebhook, { path: { id }, body: {} })
      toast(delivered ? w.testArrived(code ?? 0) : w.testFailed(error ?? String(code)))
      setTurn(turn + 1)
    } catch (error) {
      toast(asFault(error).message)
    }
  }
  const name = read.data?.name ?? ''
  const heading = (
    <>
      <a href={link('/webhooks')}>{w.webhooks}</a>
      <SafeText text={name} />
    </>
  )
  return (
    <>
      <TopBar title={plain(name) || w.webhooks} heading={heading} isLive={isStreaming.value}>
        {mayChange.value && read.data && (
          <>
            <Tools onRotate={() => setRotating(true)} onTest={() => void test()} />
            <EndpointMenu endpoint={read.data} onChange={read.reload} />
          </>
        )}
      </TopBar>
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.endpointsFailed}>
          {(endpoint) => (
            <>
              <About endpoint={endpoint} />
              <EndpointDay id={id} />
              <Verify />
              <Deliveries key={turn} endpoint={endpoint} />
            </>
          )}
        </Show>
      </div>
      {isRotating && (
        <FormDialog
          title={w.rotateQuestion(plain(name))}
          submit={w.rotate}
          onClose={() => setRotating(false)}
          onSubmit={async () => {
            const { hmac_secret: next } = await call(rotateWebhookSecret, { path: { id } })
            setRotating(false)
            setSecret({ title: w.newSecretOf(plain(name)), fields: [['hmac_secret', next]], note: w.webhookNote })
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
  const w = words()
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

/** What receivers verify signatures of a key pair with. */
const Key = ({ endpoint: { verification_key: key } }: { readonly endpoint: WebhookEndpoint }): JSX.Element | null =>
  key === null ? null : (
    <span class="verification-key">
      {own().verificationKey} <code>{key.length > 80 ? `${key.slice(0, 60)}…` : key}</code> <CopyButton text={key} label={words().copy} />
    </span>
  )

/** How a receiver checks that an event is from here. */
const Verify = (): JSX.Element => (
  <details class="about-inbox">
    <summary>{own().verify}</summary>
    <pre class="code wrap" tabIndex={0}>
      {verification}
    </pre>
  </details>
)

const verification = `import { createHmac, timingSafeEqual } from 'node:crypto'

// body: the octets of the request as they came, before JSON is read; header: that of X-Service-Signature
export function isFromPostern(body, header, secret) {
  const expected = createHmac('sha256', secret).update(body).digest()
  const given = Buffer.from(header.replace(/^sha256=/, ''), 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}`

function Deliveries({ endpoint }: { readonly endpoint: WebhookEndpoint }): JSX.Element {
  const w = words()
  const status = statuses.find((one) => one === query.value.get('status'))
  const event = eventsOf(endpoint).find((one) => one === query.value.get('event'))
  const code = /^[1-5]\d\d$/.test(query.value.get('code') ?? '') ? (query.value.get('code') ?? '') : ''
  const narrowed = { ...(status && { status }), ...(event && { event_type: event }), ...(code !== '' && { status_code: code }) }
  const input = { path: { id: endpoint.id }, query: { limit: '50', ...narrowed } }
  const list = useList(listWebhookAttempts, input)
  const rows = list.read.state === 'ready' ? list.read.data : undefined
  const news = useNews({ list: 'webhook_deliveries', operation: listWebhookAttempts, input, rows })
  const shown = query.value.get('attempt') ?? undefined
  useEffect(() => bind({ Escape: () => go(shown === undefined ? link('/webhooks') : linkHere({ attempt: '' })) }), [shown])
  return (
    <div class="columns">
      <section aria-label={w.deliveries}>
        <div class="filters">
          <Pills
            label={w.status}
            value={status ?? ''}
            onChoose={(next) => go(linkHere({ status: next }))}
            pills={[{ value: '', label: w.all }, ...statuses.map((one) => ({ value: one, label: withMark(one) }))]}
          />
          <Narrowing events={eventsOf(endpoint)} event={event ?? ''} code={code} />
          <NewPill {...news} onShow={list.reload} />
        </div>
        <List
          label={w.deliveries}
          list={list}
          failure={w.webhooksFailed}
          keyOf={({ id }) => id}
          open={({ id }) => linkHere({ attempt: id })}
          nameOf={({ event_type: type, created_at: at }) => `${type} ${shortTime(at)}`}
          bulk={
            mayChange.value &&
            ((chosen, done) => (
              <button class="button small" onClick={() => void redeliverAll(chosen, done, list.reload)}>
                {chosen.every(({ status: one }) => one === 'parked') ? own().unpark : w.redeliver}
              </button>
            ))
          }
          empty={
            Object.keys(narrowed).length === 0 ? (
              <State title={w.noDeliveriesYet} text={w.noDeliveriesYetText} />
            ) : (
              <NothingNarrowed more={list.more} />
            )
          }
          columns={columns(shown)}
          narrow={(row) => [<Mark name={row.status} />, row.event_type, row.status, shortTime(row.created_at, true)]}
        />
      </section>
      <aside aria-label={w.delivery}>
        {shown === undefined ? (
          <div class="beside-only">
            <State title={w.chooseDelivery} />
          </div>
        ) : (
          <Delivery key={shown} id={shown} endpoint={endpoint} onChange={list.reload} />
        )}
      </aside>
    </div>
  )
}

async function redeliverAll(rows: readonly WebhookAttempt[], done: () => void, reload: () => void): Promise<void> {
  done()
  try {
    for (const { id } of rows) await call(redeliverWebhookAttempt, { path: { id } })
    toast(own().redeliveredAll(rows.length))
  } catch (error) {
    toast(asFault(error).message)
  }
  reload()
}

/** What the endpoint may have been sent; an endpoint of every event has any. */
const eventsOf = ({ event_types: types }: WebhookEndpoint): readonly EventType[] => (types.length === 0 ? everyEvent : types)
type EventType = WebhookEndpoint['event_types'][number]
const everyEvent: readonly EventType[] = ['delivered', 'bounced', 'complained', 'failed', 'auto_suppressed']

interface NarrowingProps {
  readonly events: readonly EventType[]
  readonly event: string
  readonly code: string
}

function Narrowing({ events, event, code }: NarrowingProps): JSX.Element {
  const [w, common] = [own(), words()]
  const [typed, setTyped] = useState(code)
  useEffect(() => setTyped(code), [code])
  return (
    <div class="narrowing">
      <select
        class="input"
        aria-label={common.event}
        value={event}
        onChange={({ currentTarget }) => go(linkHere({ event: currentTarget.value }))}
      >
        <option value="">{common.everyEvent}</option>
        {events.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <form
        onSubmit={(submitted) => {
          submitted.preventDefault()
          go(linkHere({ code: typed.trim() }))
        }}
      >
        <input
          class="input code-filter"
          aria-label={w.lastCode}
          placeholder={w.lastCode}
          inputMode="numeric"
          pattern="[1-5][0-9][0-9]"
          maxLength={3}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </form>
    </div>
  )
}

/** A page that was narrowed can be empty although a later one is not. */
const NothingNarrowed = ({ more }: { readonly more: (() => void) | undefined }): JSX.Element => (
  <State title={own().noneFits} text={more ? own().noneFitsYet : own().noneFitsText} drawing={<Icon name="search" />}>
    <div class="actions">
      {more && (
        <button class="button" onClick={more}>
          {words().older}
        </button>
      )}
      <a class="button" href={linkHere({ status: '', event: '', code: '' })}>
        {words().clearAll}
      </a>
    </div>
  </State>
)

function columns(shown: string | undefined): readonly Column<WebhookAttempt>[] {
  const w = words()
  return [
    { head: w.status, class: 'c-status', cell: ({ status: one }) => <Status name={one} /> },
    {
      head: w.event,
      cell: ({ id, event_type: type }) => (
        <a class="mono" href={linkHere({ attempt: id })} aria-current={id === shown ? 'true' : undefined}>
          {type}
        </a>
      ),
    },
    {
      head: w.trace,
      class: 'c-time',
      cell: ({ trace_id: trace }) =>
        trace === null ? (
          '–'
        ) : (
          <a class="mono" href={link(`/traces/${trace}`)}>
            {trace.slice(0, 8)}
          </a>
        ),
    },
    {
      head: w.code,
      class: 'c-took num',
      cell: ({ last_status_code: code }) => (code === null ? '–' : <span class={code >= 300 ? 'bad' : ''}>{code}</span>),
    },
    { head: w.time, class: 'c-time num', cell: ({ created_at: at }) => <Moment at={at} /> },
  ]
}

const withMark = (status: (typeof statuses)[number]): JSX.Element => (
  <>
    <Mark name={status} />
    {status}
  </>
)
