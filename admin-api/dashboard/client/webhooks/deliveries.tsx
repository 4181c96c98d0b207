/** Webhook deliveries with their results, redelivery, and the details of a delivery next to the list. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { useKeys } from '../app/keys.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { useNews } from '../app/new-entries.ts'
import { mayChange } from '../app/permissions.ts'
import { showFault, useList } from '../app/query.ts'
import { Pills, useTyped } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { List, Moment, type Column } from '../parts/list.tsx'
import { Mark, Status } from '../parts/mark.tsx'
import { NewPill } from '../parts/new-pill.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { WebhookAttempt } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { Delivery } from './delivery.tsx'
import { texts as own } from './webhooks-texts.ts'

const statuses = ['pending', 'succeeded', 'failed', 'parked'] as const

interface DeliveriesProps {
  /** Id of the endpoint, or of another resource with a webhook. */
  readonly id: string
  readonly targetUrl: string
  /** Event types of the filter. Undefined if only one type exists. */
  readonly events?: readonly string[]
  /** Returns the subject of the message, shown in place of the event type if all deliveries have the same type. */
  readonly subjectOf?: (attemptId: string) => string
  /** Target of Escape while no delivery is open. */
  readonly back: string
}

type EventType = WebhookAttempt['event_type']

export function Deliveries({ id: endpointId, targetUrl, events, subjectOf, back }: DeliveriesProps): JSX.Element {
  const w = texts()
  const status = statuses.find((one) => one === query.value.get('status'))
  const event = events?.find((one) => one === query.value.get('event')) as EventType | undefined
  const code = /^[1-5]\d\d$/.test(query.value.get('code') ?? '') ? (query.value.get('code') ?? '') : ''
  const narrowed = { ...(status && { status }), ...(event && { event_type: event }), ...(code !== '' && { status_code: Number(code) }) }
  const input = { query: { endpoint_id: endpointId, ...narrowed } }
  const list = useList('/v1/webhooks/attempts', input)
  const rows = list.read.state === 'ready' ? list.read.data : undefined
  const news = useNews({ list: 'webhook_deliveries', route: '/v1/webhooks/attempts', input, rows })
  const shown = query.value.get('attempt') ?? undefined
  const titleOf = ({ id, event_type: type }: WebhookAttempt): string => subjectOf?.(id) ?? type
  useKeys({ Escape: () => go(shown === undefined ? back : linkHere({ attempt: '' })) }, [shown, back])
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
          <Narrowing events={events} event={event ?? ''} code={code} />
          <NewPill {...news} onShow={list.reload} />
        </div>
        <List
          label={w.deliveries}
          list={list}
          failure={w.webhooksFailed}
          keyOf={({ id }) => id}
          open={({ id }) => linkHere({ attempt: id })}
          nameOf={(row) => `${plain(titleOf(row))} ${shortTime(row.created_at)}`}
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
          columns={columns(shown, subjectOf && titleOf)}
          narrow={(row) => [<Mark name={row.status} />, <SafeText text={titleOf(row)} />, row.status, shortTime(row.created_at, true)]}
        />
      </section>
      <aside aria-label={w.delivery}>
        {shown === undefined ? (
          <div class="beside-only">
            <State title={w.chooseDelivery} />
          </div>
        ) : (
          <Delivery key={shown} id={shown} targetUrl={targetUrl} onChange={list.reload} />
        )}
      </aside>
    </div>
  )
}

async function redeliverAll(rows: readonly WebhookAttempt[], done: () => void, reload: () => void): Promise<void> {
  done()
  try {
    for (const { id } of rows) await call('POST /v1/webhooks/attempts/{id}/redeliver', { path: { id } })
    toast(own().redeliveredAll({ n: rows.length }))
  } catch (error) {
    showFault(error)
  }
  reload()
}

interface NarrowingProps {
  readonly events: readonly string[] | undefined
  readonly event: string
  readonly code: string
}

function Narrowing({ events, event, code }: NarrowingProps): JSX.Element {
  const [w, common] = [own(), texts()]
  const [typed, setTyped] = useTyped(code)
  return (
    <div class="narrowing">
      {events && (
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
      )}
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

/** No delivery matches the filter. A filtered page can be empty although later pages are not. */
const NothingNarrowed = ({ more }: { readonly more: (() => void) | undefined }): JSX.Element => (
  <State title={own().noneFits} text={more ? own().noneFitsYet : own().noneFitsText} drawing={<Icon name="search" />}>
    <div class="actions">
      {more && (
        <button class="button" onClick={more}>
          {texts().older}
        </button>
      )}
      <a class="button" href={linkHere({ status: '', event: '', code: '' })}>
        {texts().clearAll}
      </a>
    </div>
  </State>
)

/** Returns the columns: subjects of received mail, or event types with traces. */
function columns(shown: string | undefined, subjectOf: ((row: WebhookAttempt) => string) | undefined): readonly Column<WebhookAttempt>[] {
  const w = texts()
  return [
    { head: w.status, class: 'c-status', cell: ({ status: one }) => <Status name={one} /> },
    {
      head: subjectOf ? w.subject : w.event,
      cell: (row) => (
        <a class={subjectOf ? undefined : 'mono'} href={linkHere({ attempt: row.id })} aria-current={row.id === shown ? 'true' : undefined}>
          <SafeText text={subjectOf?.(row) ?? row.event_type} />
        </a>
      ),
    },
    ...(subjectOf ? [] : [{ head: w.trace, class: 'c-time', cell: traceOf }]),
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

const traceOf = ({ trace_id: trace }: WebhookAttempt): JSX.Element | string =>
  trace === null ? (
    '–'
  ) : (
    <a class="mono" href={link(`/traces/${trace}`)}>
      {trace.slice(0, 8)}
    </a>
  )
