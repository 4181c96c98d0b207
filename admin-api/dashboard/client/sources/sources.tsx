/** Screen for bounce sources, which report bounces and complaints. */
import type { JSX } from 'preact'
import { go, link, linkHere } from '../app/location.ts'
import { isMakingNew, mayAdminister } from '../app/permissions.ts'
import { useList } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { HealthBadge, healthMark, healthWord } from '../health/resource-health.tsx'
import { Icon } from '../parts/icon.tsx'
import { List, Moment } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { number } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { IngestSource } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { dayText, reportsOf, useLastDay } from './last-day.tsx'
import { providers } from './install.ts'
import { NewSource } from './new-source.tsx'
import { SourcePage } from './source-page.tsx'
import { texts } from './sources-texts.ts'

export default function Sources({ rest: [id] }: ScreenProps): JSX.Element {
  return id === undefined ? <SourceList /> : <SourcePage key={id} id={id} />
}

function SourceList(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const list = useList('/v1/ingest-sources', {})
  const day = useLastDay()
  const isMaking = isMakingNew(mayAdminister)
  const begin = mayAdminister.value && (
    <a class="button primary" href={linkHere({ new: '1' })}>
      <Icon name="plus" />
      <span class="shell-label">{w.newSource}</span>
    </a>
  )
  const seen = ({ last_seen_at: at }: IngestSource): JSX.Element | string => (at === null ? w.neverSeen : <Moment at={at} />)
  const way = ({ mode }: IngestSource): string => (mode === 'imap' ? w.imap : w.push)
  return (
    <>
      <TopBar title={common.bounceSources}>{begin}</TopBar>
      <div class="sheet">
        <List
          label={common.bounceSources}
          list={list}
          failure={w.sourcesFailed}
          keyOf={({ id }) => id}
          open={({ id }) => link(`/incoming/sources/${id}`)}
          empty={
            <State title={w.noSources} text={w.noSourcesText}>
              {mayAdminister.value && <ProviderCards />}
            </State>
          }
          columns={[
            {
              head: w.source,
              class: 'strong',
              cell: (source) => (
                <a class="cut" href={link(`/incoming/sources/${source.id}`)}>
                  <SafeText text={source.label || source.provider} />
                </a>
              ),
            },
            { head: w.provider, class: 'c-outcome', cell: ({ provider }) => provider },
            { head: common.status, class: 'c-health', cell: ({ health }) => <HealthBadge health={health} /> },
            { head: w.mode, class: 'c-destination', cell: way },
            { head: w.agent, class: 'c-outcome c-spare', cell: ({ agent }) => <SafeText text={agent ?? '–'} /> },
            {
              head: w.lastDay,
              class: 'c-outcome num',
              cell: ({ id }) => (day ? <span title={dayText(day(id))}>{number(reportsOf(day(id)))}</span> : '–'),
            },
            { head: w.lastSeen, class: 'c-outcome', cell: seen },
          ]}
          narrow={(source) => [
            <Mark name={healthMark(source.health)} />,
            <SafeText text={source.label || source.provider} />,
            [
              healthWord(source.health),
              source.provider,
              way(source),
              ...(day && reportsOf(day(source.id)) > 0 ? [dayText(day(source.id))] : []),
            ].join(' · '),
            seen(source),
          ]}
        />
      </div>
      {isMaking && <NewSource onClose={() => go(linkHere({ new: '', provider: '' }), { replaces: true })} onDone={list.reload} />}
    </>
  )
}

/** Kinds of mail servers with their reporting methods. A click opens the creation form. */
const ProviderCards = (): JSX.Element => (
  <ul class="kinds offered">
    {providers.map(([id, name]) => (
      <li key={id}>
        <a href={linkHere({ new: '1', provider: id })}>
          <b>{name}</b>
          <span>{texts().providers[id]}</span>
        </a>
      </li>
    ))}
  </ul>
)
