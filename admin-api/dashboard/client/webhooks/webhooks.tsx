/** Webhook endpoints: where events go, and making one with its secret. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, linkHere, projectId } from '../app/location.ts'
import { isMakingNew, mayChange } from '../app/permissions.ts'
import { useList } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { SecretDialog, type Secret } from '../parts/secret-dialog.tsx'
import { State } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { createWebhook, listWebhooks, type WebhookEndpoint } from '../wire/operations.ts'
import { words } from '../words/words.ts'
import { WebhookPage } from './webhook-page.tsx'

export default function Webhooks({ rest: [id] }: ScreenProps): JSX.Element {
  return id === undefined ? <EndpointList /> : <WebhookPage id={id} />
}

const eventTypes = ['delivered', 'bounced', 'complained', 'failed', 'auto_suppressed'] as const
type EventType = (typeof eventTypes)[number]

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
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const [types, setTypes] = useState<readonly EventType[]>([])
  const toggle = (type: EventType): void => setTypes(types.includes(type) ? types.filter((one) => one !== type) : [...types, type])
  const create = async (): Promise<void> => {
    const project = projectId.value === undefined ? {} : { project_id: projectId.value }
    const { hmac_secret: secret } = await call(createWebhook, { body: { name, target_url: url, event_types: [...types], ...project } })
    onSecret({ title: w.secretOf(name), fields: [['hmac_secret', secret]], note: w.webhookNote })
  }
  return (
    <FormDialog title={w.newEndpoint} submit={w.create} onClose={onClose} onSubmit={create}>
      {(fault) => (
        <>
          <TextField label={w.name} value={name} onChange={setName} fault={fault?.fields.get('name')} />
          <TextField
            label={w.endpoint}
            type="url"
            placeholder="https://"
            value={url}
            onChange={setUrl}
            fault={fault?.fields.get('target_url')}
            isMono
          />
          <fieldset>
            <legend class="label">{w.eventsHint}</legend>
            {eventTypes.map((type) => (
              <label class="check" key={type}>
                <input type="checkbox" checked={types.includes(type)} onChange={() => toggle(type)} />
                <code>{type}</code>
              </label>
            ))}
          </fieldset>
        </>
      )}
    </FormDialog>
  )
}
