/** Further tabs of a trace: webhook deliveries, destination and API response. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { useRead, type Listing } from '../app/query.ts'
import { CopyButton } from '../parts/controls.tsx'
import { Mark, StatusTag } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { useReasons } from '../reasons/reasons.ts'
import type { Trace, WebhookAttempt } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { texts as own } from './trace-texts.ts'

export function WebhooksTab({ list }: { readonly list: Listing<WebhookAttempt> }): JSX.Element {
  const w = texts()
  return (
    <Show read={list.read} reload={list.reload} failure={w.webhooksFailed} rows={3}>
      {(rows) =>
        rows.length === 0 ? (
          <State title={w.noDeliveries} text={w.noDeliveriesText} />
        ) : (
          <ul class="deliveries">
            {rows.map(
              ({ id, status, event_type: type, last_status_code: code, last_error: error, created_at: at, endpoint_id: endpoint }) => (
                <li key={id}>
                  <Mark name={status} />
                  <a class="mono" href={link(`/settings/webhooks/${endpoint}`, { attempt: id })}>
                    {type}
                  </a>
                  <span class="soft cut">
                    {status}
                    {code !== null && `, ${String(code)}`}
                    {error !== null && code === null && `, ${error}`}
                  </span>
                  <time datetime={at} title={at}>
                    {shortTime(at)}
                  </time>
                </li>
              ),
            )}
          </ul>
        )
      }
    </Show>
  )
}

export function DestinationTab({ trace }: { readonly trace: Trace }): JSX.Element {
  const w = texts()
  const { destination_id: id, route } = trace
  const reasons = useReasons(trace)
  const read = useRead('/v1/destinations/{id}', id === null ? undefined : { path: { id } })
  if (id === null) return <State title={w.noDestination} text={reasons.route ?? <span lang="en">{route.reason}</span>} />
  return (
    <Show read={read} reload={read.reload} failure={w.destinationFailed} rows={3}>
      {({ name, provider, mode, environment, priority, credentials }) => (
        <div class="block">
          <h3>
            <SafeText text={name} /> <StatusTag name={mode} />
          </h3>
          <dl class="facts">
            <dt>{own().provider}</dt>
            <dd>{provider}</dd>
            {'host' in credentials && (
              <>
                <dt>{w.host}</dt>
                <dd>
                  <code>{`${String(credentials.host)}:${String(credentials.port)}`}</code>
                </dd>
              </>
            )}
            <dt>{w.environment}</dt>
            <dd>{environment ?? '–'}</dd>
            <dt>{w.priority}</dt>
            <dd>{priority}</dd>
          </dl>
        </div>
      )}
    </Show>
  )
}

export function JsonTab({ trace }: { readonly trace: Trace }): JSX.Element {
  const text = JSON.stringify(trace, undefined, 2)
  return (
    <div class="block">
      <CopyButton text={text} label={texts().copy} />
      <pre class="code" tabIndex={0}>
        {text}
      </pre>
    </div>
  )
}
