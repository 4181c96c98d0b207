/** List of inbound routes, and the form that creates one. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { go, link, linkHere, projectId } from '../app/location.ts'
import { isMakingNew, mayChange } from '../app/permissions.ts'
import { projects } from '../app/projects.ts'
import { useList } from '../app/query.ts'
import { HealthBadge, healthMark, healthWord, LastSuccess } from '../health/resource-health.tsx'
import { FeatureNote, useFlag } from '../parts/feature.tsx'
import { List, Moment, type Column } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { SecretDialog, type Secret } from '../parts/secret-dialog.tsx'
import { State } from '../parts/states.tsx'
import { NewLink, TopBar } from '../parts/top-bar.tsx'
import type { InboundRoute } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './inbound-texts.ts'
import { NewRoute } from './new-route.tsx'
import { NoDomain, takenBy } from './route-address.tsx'

export function RouteList(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useList('/v1/inbound-routes', { query: project })
  const flag = useFlag('inbound_routes')
  const [secret, setSecret] = useState<Secret>()
  const close = (): void => go(linkHere({ new: '' }), { replaces: true })
  return (
    <>
      <TopBar title={common.inboundRoutes}>{mayChange.value && <NewLink label={common.newInboundRoute} />}</TopBar>
      <div class="sheet">
        <FeatureNote flag={flag} />
        {list.read.data?.some(({ address }) => address === null) && <NoDomain />}
        <List
          label={common.inboundRoutes}
          list={list}
          failure={w.failed}
          keyOf={({ id }) => id}
          open={({ id }) => link(`/incoming/routes/${id}`)}
          empty={<Nothing />}
          columns={columns()}
          narrow={(route) => [
            <Mark name={route.address === null ? 'warning' : healthMark(route.health)} />,
            takenBy(route),
            [healthWord(route.health), plain(route.webhook_url)].join(' · '),
            <Moment at={route.created_at} isNarrow />,
          ]}
        />
      </div>
      {isMakingNew(mayChange) && (
        <NewRoute
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

function columns(): readonly Column<InboundRoute>[] {
  const [w, common] = [texts(), allTexts()]
  return [
    {
      head: w.takes,
      class: 'strong',
      cell: (route) => (
        <a class="mono" href={link(`/incoming/routes/${route.id}`)}>
          {takenBy(route)}
        </a>
      ),
    },
    { head: w.webhook, cell: ({ webhook_url: url }) => <code>{plain(url)}</code> },
    { head: common.status, class: 'c-health', cell: ({ health }) => <HealthBadge health={health} /> },
    ...(projectId.value === undefined && projects.value.length > 1
      ? [{ head: common.project, class: 'c-outcome c-spare', cell: projectOf }]
      : []),
    { head: common.resourceHealth.lastSuccess, class: 'c-time', cell: ({ health }) => <LastSuccess health={health} /> },
  ]
}

const projectOf = ({ project_id: id }: InboundRoute): JSX.Element => (
  <SafeText text={projects.value.find((one) => one.id === id)?.name ?? id} />
)

function Nothing(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  return (
    <State title={w.none} text={mayChange.value ? w.noneText : w.noneToRead}>
      {mayChange.value && (
        <div class="actions">
          <a class="button primary" href={linkHere({ new: '1' })}>
            {common.newInboundRoute}
          </a>
        </div>
      )}
      <p>
        <a href="/docs/inbound-routes">{w.chapter}</a>
      </p>
    </State>
  )
}
