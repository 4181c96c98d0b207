/** Details of a delivery: position in the retry schedule, attempts with responses, and the request body. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { keyFor, useKeys } from '../app/keys.ts'
import { everyMs, useChanges } from '../app/live.ts'
import { link, path } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { showFault, useRead, useTicks } from '../app/query.ts'
import { CopyButton, Tabs, useBusy } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { longTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { WebhookAttemptDetail } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { texts as own } from './webhooks-texts.ts'

/** Spec "Outbound event webhooks" 5. */
const ladder = ['0', '1 min', '5 min', '25 min', '2 h', '12 h', '24 h'] as const

const lookAgainMs = 10_000

interface DeliveryProps {
  readonly id: string
  readonly targetUrl: string
  readonly onChange: () => void
}

export function Delivery({ id, targetUrl, onChange }: DeliveryProps): JSX.Element {
  const w = texts()
  const read = useRead('/v1/webhooks/attempts/{id}', { path: { id } }, { isShown: true })
  useChanges('webhook_deliveries', read.reload)
  useTicks(everyMs(lookAgainMs), read.refresh)
  const [isBusy, start] = useBusy()
  const again = async (): Promise<void> => {
    try {
      await call('POST /v1/webhooks/attempts/{id}/redeliver', { path: { id } })
      toast(read.data?.status === 'parked' ? own().unparked : w.redelivered)
      read.reload()
      onChange()
    } catch (error) {
      showFault(error)
    }
  }
  useKeys({ ...(mayChange.value && { r: () => start(again) }) }, [isBusy, read.data?.status])
  return (
    <Show read={read} reload={read.reload} failure={w.webhooksFailed} rows={4}>
      {(detail) => (
        <>
          <div class="block">
            <div class="actions">
              <h2 class="status">
                <Mark name={detail.status} />
                <code>{detail.event_type}</code>
              </h2>
              {mayChange.value && (
                <button class="button small end" aria-disabled={isBusy} aria-keyshortcuts={keyFor('r')} onClick={() => start(again)}>
                  <Icon name="replay" />
                  {detail.status === 'parked' ? own().unpark : w.redeliver}
                </button>
              )}
            </div>
            <p class="faint">
              X-Service-Delivery <code>{detail.delivery_id}</code>
            </p>
            <ItsMail detail={detail} />
            <Ladder detail={detail} />
          </div>
          <Attempts detail={detail} />
          <div class="block">
            <div class="actions">
              <h3>{w.request}</h3>
              <CopyButton text={detail.body} label={w.copy} />
            </div>
            <pre class="code wrap" tabIndex={0}>
              {`POST ${new URL(targetUrl).pathname}\nContent-Type: application/json\nX-Service-Delivery: ${detail.delivery_id}\n\n`}
              <SafeText text={pretty(detail.body)} />
            </pre>
          </div>
        </>
      )}
    </Show>
  )
}

/** Link to the received message of the delivery, unless its page is open. */
function ItsMail({
  detail: { event_type: type, endpoint_id: route, body },
}: {
  readonly detail: WebhookAttemptDetail
}): JSX.Element | null {
  if (type !== 'inbound_message') return null
  const id = /"id":"(inm_\w{1,60})"/.exec(body)?.[1]
  const place = `/incoming/routes/${route}/${id ?? ''}`
  if (id === undefined || path.value === place) return null
  return (
    <p>
      <a href={link(place)}>{own().itsMail}</a>
    </p>
  )
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2)
  } catch {
    return body
  }
}

/** Retry schedule: completed attempts, the next one, and possible later ones. */
function Ladder({ detail }: { readonly detail: WebhookAttemptDetail }): JSX.Element {
  const w = texts()
  const { attempts, status } = detail
  const isOpen = status === 'failed' || status === 'pending'
  return (
    <ol class="ladder" aria-label={w.retries}>
      {ladder.map((when, i) => {
        const made = attempts[i]
        const isNext = made === undefined && isOpen && i === attempts.length
        const isGood = made?.status_code !== null && made !== undefined && made.status_code < 300
        return (
          <li key={when} class={made ? 'made' : ''}>
            <Mark name={made ? (isGood ? 'succeeded' : 'failed') : isNext ? 'queued' : 'none'} />
            <b class={made && !isGood ? 'bad' : ''}>{made ? (made.status_code ?? '–') : isNext ? w.nextWord : ''}</b>
            <span>{i === 0 ? w.atOnce : when}</span>
          </li>
        )
      })}
      <li>
        <Mark name={status === 'parked' ? 'parked' : 'none'} />
        <b />
        <span>{w.parked}</span>
      </li>
    </ol>
  )
}

function Attempts({ detail }: { readonly detail: WebhookAttemptDetail }): JSX.Element | null {
  const w = texts()
  const { attempts } = detail
  const [chosen, setChosen] = useState<string>()
  const shown = attempts.find(({ number }) => String(number) === chosen) ?? attempts.at(-1)
  if (!shown) return null
  return (
    <>
      <Tabs
        label={w.attempts}
        tabs={attempts.toReversed().map(({ number }) => ({ id: String(number), label: w.attemptNumber({ n: number }) }))}
        value={String(shown.number)}
        onChoose={setChosen}
      />
      <div class="block" role="tabpanel" aria-label={w.attemptNumber({ n: shown.number })}>
        <div class="actions">
          <h3>{w.response}</h3>
          <span class={shown.status_code !== null && shown.status_code < 300 ? 'tag good' : 'tag bad'}>
            {shown.status_code ?? w.noAnswer}
          </span>
          <span class="faint end">
            {shown.latency_ms} ms · {longTime(shown.at)}
          </span>
        </div>
        {shown.error !== null && (
          <p class="soft" lang="en">
            <SafeText text={shown.error} />
          </p>
        )}
        {shown.signature !== null && (
          <p class="faint wrap">
            X-Service-Signature <code>{shown.signature}</code> <CopyButton text={shown.signature} label={w.copy} />
          </p>
        )}
        {shown.response_body && (
          <pre class="code wrap" tabIndex={0}>
            <SafeText text={shown.response_body} />
          </pre>
        )}
      </div>
    </>
  )
}
