/** List of the mail received by an inbound route, with authentication and delivery status. */
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { useKeys } from '../app/keys.ts'
import { useChanges } from '../app/live.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { useNews } from '../app/new-entries.ts'
import { useList } from '../app/query.ts'
import { List, Moment, SearchBox, type Column } from '../parts/list.tsx'
import { Mark, Status } from '../parts/mark.tsx'
import { NewPill } from '../parts/new-pill.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { NothingMatches, State } from '../parts/states.tsx'
import type { InboundMessageSummary, InboundRoute, WebhookAttempt } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { Dmarc } from './authentication.tsx'
import { texts } from './inbound-texts.ts'
import { mailOrder, searched } from './mail-order.ts'
import { takenBy } from './route-address.tsx'

type Deliveries = ReadonlyMap<string, WebhookAttempt['status']>

export function ReceivedMail({ route }: { readonly route: InboundRoute }): JSX.Element {
  const w = texts()
  const text = query.value.get('q') ?? ''
  const input = { path: { id: route.id }, query: { ...(text !== '' && { q: text }) } }
  const list = useList('/v1/inbound-routes/{id}/messages', input)
  const rows = list.read.state === 'ready' ? list.read.data : undefined
  const news = useNews({ list: 'webhook_deliveries', route: '/v1/inbound-routes/{id}/messages', input, rows })
  const attempts = useAll('/v1/webhooks/attempts', { query: { endpoint_id: route.id } })
  const deliveries = new Map(attempts.rows.map(({ id, status }) => [id, status]))
  useEffect(() => {
    if (rows) mailOrder.value = { routeId: route.id, ids: rows.map(({ id }) => id) }
  }, [rows])
  useKeys({ Escape: () => go(link('/incoming/routes')) }, [])
  const show = (): void => {
    list.reload()
    attempts.reload()
  }
  useEffect(() => {
    if (rows?.length === 0 && news.added > 0) show() // an empty list shows new mail at once
  }, [news, rows])
  useChanges('webhook_deliveries', attempts.reload)
  return (
    <>
      <SearchBox id="received" label={w.searchMail} text={text}>
        <NewPill {...news} onShow={show} />
      </SearchBox>
      <List
        label={w.received}
        list={list}
        failure={w.mailFailed}
        keyOf={({ id }) => id}
        open={placeOf}
        empty={<Nothing route={route} isFiltered={text !== ''} more={list.more} />}
        columns={columns(deliveries)}
        narrow={(mail) => [
          <Mark name={deliveryOf(mail, deliveries) ?? 'none'} />,
          <SafeText text={subjectOf(mail)} />,
          `${plain(senderOf(mail))} · ${deliveryOf(mail, deliveries) ?? (mail.status === 'received' ? w.reading : '–')}`,
          <Moment at={mail.received_at} isNarrow />,
        ]}
      />
    </>
  )
}

interface NothingProps {
  readonly route: InboundRoute
  readonly isFiltered: boolean
  /** A filtered page can be empty although later pages are not. */
  readonly more: (() => void) | undefined
}

function Nothing({ route, isFiltered, more }: NothingProps): JSX.Element {
  const w = texts()
  if (!isFiltered) return <State title={w.noMail} text={route.address === null ? undefined : w.noMailText({ address: takenBy(route) })} />
  return <NothingMatches all={linkHere({ q: '' })} more={more} {...(more && { text: w.noneYet })} />
}

const placeOf = ({ route_id: route, id }: InboundMessageSummary): string => link(`/incoming/routes/${route}/${id}`, searched())

/** Returns the From address, else the envelope sender. The envelope sender of reports is empty. */
const senderOf = ({ from, envelope_from: envelope }: InboundMessageSummary): string => from[0] ?? (envelope || '<>')

export const subjectOf = ({ subject, unreadable }: InboundMessageSummary): string =>
  subject || (unreadable === null ? allTexts().noSubject : texts().unreadable)

const deliveryOf = ({ webhook_attempt_id: id }: InboundMessageSummary, deliveries: Deliveries): WebhookAttempt['status'] | undefined =>
  id === null ? undefined : deliveries.get(id)

function columns(deliveries: Deliveries): readonly Column<InboundMessageSummary>[] {
  const [w, common] = [texts(), allTexts()]
  return [
    { head: common.from, cell: (mail) => <SafeText text={senderOf(mail)} /> },
    {
      head: common.subject,
      class: 'strong',
      cell: (mail) => (
        <a href={placeOf(mail)}>
          <SafeText text={subjectOf(mail)} />
        </a>
      ),
    },
    { head: common.to, class: 'c-spare', cell: ({ envelope_to: to }) => <SafeText text={to.join(', ')} /> },
    { head: 'DMARC', class: 'c-outcome', cell: ({ authentication }) => <Dmarc authentication={authentication} /> },
    { head: w.webhook, class: 'c-status', cell: (mail) => <DeliveryState mail={mail} deliveries={deliveries} /> },
    { head: common.time, class: 'c-time num', cell: ({ received_at: at }) => <Moment at={at} /> },
  ]
}

function DeliveryState({ mail, deliveries }: { readonly mail: InboundMessageSummary; readonly deliveries: Deliveries }): JSX.Element {
  const status = deliveryOf(mail, deliveries)
  if (status) return <Status name={status} />
  if (mail.status === 'processed') return <>–</>
  return (
    <span class="status">
      <Mark name="pending" />
      {texts().reading}
    </span>
  )
}
