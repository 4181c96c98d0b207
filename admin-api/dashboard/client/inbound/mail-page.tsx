/** Page of a received message: content, sender checks and webhook delivery. */
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { call, showCall } from '../app/api.ts'
import { useKeys } from '../app/keys.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { useRead, type Reading } from '../app/query.ts'
import { MessageTabs } from '../mail/message-tabs.tsx'
import { Neighbours, useNeighbourKeys } from '../mail/neighbours.tsx'
import { saveFile } from '../mail/parts.tsx'
import { Recipients } from '../mail/recipients.tsx'
import { Icon } from '../parts/icon.tsx'
import { StatusTag } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { exactTime, longTime } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { Delivery } from '../webhooks/delivery.tsx'
import type { InboundMessage, InboundRoute } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { SenderResults, SenderTab } from './authentication.tsx'
import { texts } from './inbound-texts.ts'
import { mailOrder, searched } from './mail-order.ts'
import { takenBy } from './route-address.tsx'

interface MailPageProps {
  readonly routeId: string
  readonly messageId: string
}

export function MailPage({ routeId, messageId }: MailPageProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const read = useRead('/v1/inbound-routes/{id}/messages/{message_id}', { path: { id: routeId, message_id: messageId } }, { isShown: true })
  const route = useRead('/v1/inbound-routes/{id}', { path: { id: routeId } })
  const subject = read.data ? plain(read.data.subject || common.noSubject) : ''
  const back = link(`/incoming/routes/${routeId}`, searched())
  const { before, after } = placesBeside(routeId, messageId)
  useKeys({ Escape: () => go(back) }, [back])
  useNeighbourKeys(before, after)
  const heading = (
    <>
      <a href={link('/incoming/routes')}>{common.inboundRoutes}</a>
      {route.data && <a href={back}>{takenBy(route.data)}</a>}
      {subject !== '' && <span class="cut">{subject}</span>}
    </>
  )
  return (
    <>
      <TopBar title={subject || w.received} heading={heading} />
      <div class="mailbox single reading">
        <section class="reader" aria-label={common.message}>
          <Show read={read} reload={read.reload} failure={common.messageFailed}>
            {(mail) => <Mail mail={mail} route={route} onChange={read.reload} />}
          </Show>
        </section>
      </div>
    </>
  )
}

interface MailProps {
  readonly mail: InboundMessage
  readonly route: Reading<InboundRoute>
  readonly onChange: () => void
}

function Mail({ mail, route, onChange }: MailProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const path = { id: mail.route_id, message_id: mail.id }
  const attemptId = mail.webhook_attempt_id
  const attempt = useRead('/v1/webhooks/attempts/{id}', attemptId === null ? undefined : { path: { id: attemptId } })
  useOwnCall(path)
  const delivery = (): JSX.Element =>
    attemptId === null ? (
      <State title={w.notHandedOver} text={w.notHandedOverText}>
        <div class="actions">
          <button class="button" onClick={onChange}>
            {common.loadAgain}
          </button>
        </div>
      </State>
    ) : (
      <div class="whole">
        <Show read={route} reload={route.reload} failure={w.routeFailed} rows={4}>
          {({ webhook_url: url }) => <Delivery id={attemptId} targetUrl={url} onChange={attempt.reload} />}
        </Show>
      </div>
    )
  return (
    <>
      <Head mail={mail} status={attempt.data?.status} />
      <MessageTabs
        message={mail}
        raw={(signal) => call('/v1/inbound-routes/{id}/messages/{message_id}/raw', { path }, { signal })}
        attachment={(index) => call('/v1/inbound-routes/{id}/messages/{message_id}/attachments/{index}', { path: { ...path, index } })}
        further={[
          { id: 'sender', label: w.checks, content: () => <SenderTab mail={mail} /> },
          { id: 'delivery', label: common.delivery, content: delivery },
        ]}
      />
    </>
  )
}

/** Restores the API call of the message when the user leaves the delivery tab, which shows another call. */
function useOwnCall(path: { readonly id: string; readonly message_id: string }): void {
  const isDelivery = query.value.get('tab') === 'delivery'
  const was = useRef(isDelivery)
  useEffect(() => {
    if (was.current && !isDelivery) showCall('/v1/inbound-routes/{id}/messages/{message_id}', { path })
    was.current = isDelivery
  }, [isDelivery])
}

interface HeadProps {
  readonly mail: InboundMessage
  /** Delivery status. Undefined while loading. */
  readonly status: string | undefined
}

function Head({ mail, status }: HeadProps): JSX.Element {
  const common = allTexts()
  const path = { id: mail.route_id, message_id: mail.id }
  const download = (): Promise<void> =>
    saveFile(() => call('/v1/inbound-routes/{id}/messages/{message_id}/raw', { path }), `${mail.id}.eml`)
  const { before, after } = placesBeside(mail.route_id, mail.id)
  return (
    <header class="reader-head">
      <div>
        <h2 class="three-lines" title={plain(mail.subject)}>
          <SafeText text={mail.subject || common.noSubject} />
        </h2>
        <Neighbours before={before} after={after} />
        <button class="button quiet square" aria-label={common.saveMessage} title={common.saveMessage} onClick={() => void download()}>
          <Icon name="download" />
        </button>
      </div>
      <p class="soft">
        <SafeText text={mail.from[0] ?? (mail.envelope_from || '<>')} /> {common.toWord} <Recipients all={mail.envelope_to} /> ·{' '}
        <time datetime={mail.received_at} title={exactTime(mail.received_at)}>
          {longTime(mail.received_at)}
        </time>
      </p>
      <div class="mail-facts">
        {status !== undefined && (
          <span>
            {texts().webhook}{' '}
            <a href={linkHere({ tab: 'delivery' })}>
              <StatusTag name={status} />
            </a>
          </span>
        )}
        {mail.authentication && <SenderResults authentication={mail.authentication} />}
      </div>
    </header>
  )
}

/** Returns the addresses of the previous and next message in the latest list. */
function placesBeside(routeId: string, id: string): { readonly before?: string | undefined; readonly after?: string | undefined } {
  const { routeId: listed, ids } = mailOrder.value
  const at = listed === routeId ? ids.indexOf(id) : -1
  const tab = query.value.get('tab') ?? undefined
  const placeOf = (one: string | undefined): string | undefined =>
    one === undefined ? undefined : link(`/incoming/routes/${routeId}/${one}`, { tab, ...searched() })
  const before = at < 1 ? undefined : placeOf(ids[at - 1])
  const after = at < 0 ? undefined : placeOf(ids[at + 1])
  return { before, after }
}
