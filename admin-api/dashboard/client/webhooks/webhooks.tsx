/** Webhook endpoints: where events go, and making one with its secret. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, linkHere, projectId } from '../app/location.ts'
import { isMakingNew, mayChange } from '../app/permissions.ts'
import { useList, useRead } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { SecretDialog, type Secret } from '../parts/secret-dialog.tsx'
import { State } from '../parts/states.tsx'
import { number, shortTime } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { createWebhook, getWebhookInsight, listWebhooks, type WebhookEndpoint } from '../wire/operations.ts'
import { words } from '../words/words.ts'
import { EditEndpoint, type EndpointSettings } from './edit-endpoint.tsx'
import { WebhookPage } from './webhook-page.tsx'
import { words as own } from './webhooks-words.ts'

export default function Webhooks({ rest: [id] }: ScreenProps): JSX.Element {
  return id === undefined ? <EndpointList /> : <WebhookPage id={id} />
}

const eventsOf = ({ event_types: types }: WebhookEndpoint): string => (types.length === 0 ? words().everyEvent : types.join(', '))

function EndpointList(): JSX.Element {
  const w = words()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useList(listWebhooks, { query: { ...project, limit: '50' } })
  const [secret, setSecret] = useState<Secret>()
  const close = (): void => go(linkHere({ new: '' }), { replaces: true })
  return (
    <>
      <TopBar title={w.webhooks}>
        {mayChange.value && (
          <a class="button primary" href={linkHere({ new: '1' })}>
            <Icon name="plus" />
            <span class="shell-label">{w.newEndpoint}</span>
          </a>
        )}
      </TopBar>
      <div class="sheet">
        {(list.read.data?.length ?? 0) > 0 && <LastDay />}
        <List
          label={w.webhooks}
          list={list}
          failure={w.endpointsFailed}
          keyOf={({ id }) => id}
          open={({ id }) => link(`/webhooks/${id}`)}
          empty={
            <State title={w.noEndpoints} text={w.noEndpointsText}>
              {mayChange.value && (
                <div class="actions">
                  <a class="button primary" href={linkHere({ new: '1' })}>
                    {w.newEndpoint}
                  </a>
                </div>
              )}
            </State>
          }
          columns={[
            {
              head: w.name,
              class: 'strong',
              cell: ({ id, name }) => (
                <a href={link(`/webhooks/${id}`)}>
                  <SafeText text={name} />
                </a>
              ),
            },
            { head: w.endpoint, cell: ({ target_url: url }) => <code>{plain(url)}</code> },
            { head: w.eventsWord, cell: eventsOf },
            { head: w.status, class: 'c-status', cell: ({ paused }) => <EndpointStatus paused={paused} /> },
            { head: w.since, class: 'c-time', cell: ({ created_at: at }) => shortTime(at) },
          ]}
          narrow={(one) => [<Mark name={one.paused ? 'paused' : 'ok'} />, <SafeText text={one.name} />, plain(one.target_url), '']}
        />
      </div>
      {isMakingNew(mayChange) && (
        <NewEndpoint
          onClose={close}
          onSecret={(made) => {
            close()
            setSecret(made)
            list.reload()
          }}
        />
      )}
      {secret && <SecretDialog secret={secret} onDone={() => setSecret(undefined)} />}
    </>
  )
}

const EndpointStatus = ({ paused }: Pick<WebhookEndpoint, 'paused'>): JSX.Element => (
  <span class="status">
    <Mark name={paused ? 'paused' : 'ok'} />
    {paused ? words().paused : words().active}
  </span>
)

function NewEndpoint({ onClose, onSecret }: { readonly onClose: () => void; readonly onSecret: (secret: Secret) => void }): JSX.Element {
  const w = words()
  const create = async (settings: EndpointSettings): Promise<undefined> => {
    const project = projectId.value === undefined ? {} : { project_id: projectId.value }
    const { hmac_secret: secret } = await call(createWebhook, { body: { ...settings, ...project } })
    onSecret({ title: w.secretOf(settings.name), fields: [['hmac_secret', secret]], note: w.webhookNote })
    return undefined
  }
  return <EditEndpoint title={w.newEndpoint} submit={w.create} onClose={onClose} onSave={create} />
}

const dayMs = 86_400_000

/** How the deliveries of the last day went, over all endpoints that are shown. */
function LastDay(): JSX.Element | null {
  const w = own()
  const [now] = useState(() => Date.now())
  const span = { from: new Date(now - dayMs).toISOString(), to: new Date(now).toISOString() }
  const { data } = useRead(getWebhookInsight, {
    query: { ...span, ...(projectId.value !== undefined && { project: projectId.value }) },
  })
  if (!data) return null
  const { succeeded, failed, parked } = data.totals
  const all = succeeded + failed
  const share = all === 0 ? '–' : `${(Math.floor((succeeded / all) * 1000) / 10).toFixed(1)} %`
  return (
    <dl class="ledger">
      <Figure name={w.success} value={share} unit={w.ofAttempts(all)} />
      <Figure name={w.failures} value={number(failed)} isBad={failed > 0} />
      <Figure name={w.parked} value={number(parked)} isBad={parked > 0} />
    </dl>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  readonly unit?: string
  readonly isBad?: boolean
}

const Figure = ({ name, value, unit, isBad = false }: FigureProps): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>
      <b class={isBad ? 'bad' : ''}>{value}</b> {unit !== undefined && <span>{unit}</span>}
    </dd>
  </div>
)
