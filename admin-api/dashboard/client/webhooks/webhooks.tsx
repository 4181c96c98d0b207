/** Screen for webhook endpoints, and the form that creates one and shows its secret. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, linkHere, projectId } from '../app/location.ts'
import { isMakingNew, mayChange } from '../app/permissions.ts'
import { useList } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { HealthBadge, healthMark, healthWord, LastSuccess } from '../health/resource-health.tsx'
import { Icon } from '../parts/icon.tsx'
import { List, type Column } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { SecretDialog, type Secret } from '../parts/secret-dialog.tsx'
import { State } from '../parts/states.tsx'
import { number } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { WebhookEndpoint } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { EditEndpoint, type EndpointSettings } from './edit-endpoint.tsx'
import { LastDay, successOf, took, useLastDay, type DayTotals } from './last-day.tsx'
import { WebhookPage } from './webhook-page.tsx'
import { texts as own } from './webhooks-texts.ts'

export default function Webhooks({ rest: [id] }: ScreenProps): JSX.Element {
  return id === undefined ? <EndpointList /> : <WebhookPage id={id} />
}

const eventsOf = ({ event_types: types }: WebhookEndpoint): string => (types.length === 0 ? texts().everyEvent : types.join(', '))

function EndpointList(): JSX.Element {
  const w = texts()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useList('/v1/webhooks', { query: project })
  const days = useLastDay()
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
          open={({ id }) => link(`/settings/webhooks/${id}`)}
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
          columns={columns(days)}
          narrow={(one) => [
            <Mark name={one.paused ? 'paused' : healthMark(one.health)} />,
            <SafeText text={one.name} />,
            [one.paused ? w.paused : healthWord(one.health), plain(one.target_url)].join(' · '),
            <Share totals={days?.get(one.id)} />,
          ]}
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

function columns(days: ReadonlyMap<string, DayTotals> | undefined): readonly Column<WebhookEndpoint>[] {
  const w = texts()
  return [
    {
      head: w.name,
      class: 'strong',
      cell: ({ id, name }) => (
        <a href={link(`/settings/webhooks/${id}`)}>
          <SafeText text={name} />
        </a>
      ),
    },
    { head: w.endpoint, cell: ({ target_url: url }) => <code>{plain(url)}</code> },
    { head: w.eventsWord, cell: eventsOf },
    { head: w.status, class: 'c-health', cell: ({ paused, health }) => <HealthBadge health={health} off={paused && w.paused} /> },
    { head: own().lastDay, class: 'c-took num', cell: ({ id }) => <Share totals={days?.get(id)} /> },
    { head: 'p95', class: 'c-took c-spare num', cell: ({ id }) => took(days?.get(id)?.p95_ms ?? null) },
    { head: own().parkedShort, class: 'c-took num', cell: ({ id }) => <Parked totals={days?.get(id)} /> },
    { head: w.resourceHealth.lastSuccess, class: 'c-time', cell: ({ health }) => <LastSuccess health={health} /> },
  ]
}

const Share = ({ totals }: { readonly totals: DayTotals | undefined }): JSX.Element => (
  <span class={totals && totals.failed > 0 ? 'bad' : ''}>{totals ? successOf(totals) : '–'}</span>
)

const Parked = ({ totals }: { readonly totals: DayTotals | undefined }): JSX.Element => (
  <span class={totals && totals.parked > 0 ? 'bad' : ''}>{totals ? number(totals.parked) : '–'}</span>
)

function NewEndpoint({ onClose, onSecret }: { readonly onClose: () => void; readonly onSecret: (secret: Secret) => void }): JSX.Element {
  const w = texts()
  const create = async (settings: EndpointSettings): Promise<undefined> => {
    const project = projectId.value === undefined ? {} : { project_id: projectId.value }
    const { hmac_secret: secret } = await call('POST /v1/webhooks', { body: { ...settings, ...project } })
    onSecret({ title: w.secretOf({ name: settings.name }), fields: [['hmac_secret', secret]], note: w.webhookNote })
    return undefined
  }
  return <EditEndpoint title={w.newEndpoint} submit={w.create} onClose={onClose} onSave={create} />
}
