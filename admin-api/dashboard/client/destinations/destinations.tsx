/** Screen for destinations: their health, and the promotion from sandbox to live. */
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { go, link, projectId } from '../app/location.ts'
import { isMakingNew, mayChange } from '../app/permissions.ts'
import { mostFigures, useList } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import type { Troubles } from '../findings/finding-order.ts'
import { FindingRow } from '../findings/finding-rows.tsx'
import { texts as findingTexts } from '../findings/findings-texts.ts'
import { HealthStrip, lastDay, stripText } from '../health/health-strip.tsx'
import { useInsight, useSpan } from '../insights/reading.tsx'
import { markOf, useHealths, useTroubles, type Healths } from '../health/destination-health.ts'
import { Icon } from '../parts/icon.tsx'
import { List, type Column } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { rate } from '../health/rate.ts'
import { SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { number } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { Destination, DestinationInsight } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { texts as own } from './evidence-texts.ts'
import { useFromDomains } from './from-domains.ts'
import { DestinationPage } from './destination-page.tsx'
import { Mode, placeOf } from './destination-texts.tsx'
import { GoLive } from '../going-live/go-live.tsx'
import { LoginStep } from '../going-live/login-step.tsx'
import { ProviderStep } from '../going-live/provider-step.tsx'
import { WayOfSends } from './way-of-sends.tsx'

export default function Destinations({ rest: [id, part, step] }: ScreenProps): JSX.Element {
  if (id === undefined) return <DestinationList />
  if (id === 'new') return part === undefined ? <ProviderStep /> : <LoginStep key={part} kindId={part} />
  // the former address of the flow has no further parts
  return part === 'go-live' || part === 'promote' ? <GoLive key={id} id={id} part={step} /> : <DestinationPage id={id} />
}

function DestinationList(): JSX.Element {
  const w = texts()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const known = useList('/v1/destinations', { query: project })
  const healths = useHealths()
  const { troubles, isKnown } = useTroubles()
  // the rows of the findings must not push the list down later
  const list = isKnown ? known : { ...known, read: { state: 'loading' } as const }
  const day = useInsight('/v1/insights/destinations', lastDay(useSpan().now), { first: mostFigures }).data?.data ?? []
  const domains = useFromDomains(project)
  const isMaking = isMakingNew(mayChange)
  useEffect(() => {
    if (isMaking) go(link('/destinations/new'), { replaces: true })
  }, [isMaking])
  const rows = list.read.data ?? []
  return (
    <>
      <TopBar title={w.destinations}>
        {mayChange.value && (
          <a class="button primary" href={link('/destinations/new')}>
            <Icon name="plus" />
            <span class="shell-label">{w.newDestination}</span>
          </a>
        )}
      </TopBar>
      <div class="sheet">
        {rows.length > 0 && <Say rows={rows} />}
        <Findings troubles={troubles} />
        <List
          label={w.destinations}
          list={list}
          failure={w.destinationsFailed}
          empty={
            <State title={w.noDestinations} text={w.noDestinationsText}>
              {mayChange.value && (
                <div class="actions">
                  <a class="button primary" href={link('/destinations/new')}>
                    {w.newDestination}
                  </a>
                </div>
              )}
            </State>
          }
          columns={columns(healths, troubles, day, domains)}
          keyOf={({ id }) => id}
          open={({ id }) => link(`/destinations/${id}`)}
          narrow={(one) => [
            <Mark name={markOf(one, troubles)} />,
            <SafeText text={one.name} />,
            <>
              {placeOf(one)}
              <span class="strip-line">
                <DayOf destination={one} days={day} />
                <Errors id={one.id} healths={healths} />
              </span>
            </>,
            <ModeNow destination={one} troubles={troubles} />,
          ]}
        />
        {rows.length > 0 && <WayOfSends destinations={rows} healths={healths} />}
      </div>
    </>
  )
}

function Say({ rows }: { readonly rows: readonly Destination[] }): JSX.Element {
  const w = texts()
  const countOf = (wanted: Destination['mode']): number => rows.filter(({ mode }) => mode === wanted).length
  return (
    <div class="say">
      <h2>{w.destinationsSay({ live: countOf('live'), sandbox: countOf('sandbox') })}</h2>
      <p>{w.destinationsText}</p>
    </div>
  )
}

/** The most urgent finding of each destination. */
const Findings = ({ troubles }: { readonly troubles: Troubles }): JSX.Element | null =>
  troubles.size === 0 ? null : (
    <ul class="look" aria-label={findingTexts().findings}>
      {[...new Set(troubles.values())].map((finding) => (
        <FindingRow key={finding.id} finding={finding} />
      ))}
    </ul>
  )

type Days = DestinationInsight['data']

function columns(
  healths: Healths,
  troubles: Troubles,
  days: Days,
  domainsOf: (destination: Destination) => string,
): readonly Column<Destination>[] {
  const w = texts()
  return [
    {
      head: w.name,
      class: 'tall strong',
      cell: (one) => (
        <>
          <a href={link(`/destinations/${one.id}`)}>
            <SafeText text={one.name} />
          </a>{' '}
          {one.scope === 'org' && <span class="tag">org</span>}
          <small>{placeOf(one)}</small>
        </>
      ),
    },
    { head: w.mode, class: 'c-status', cell: (one) => <ModeNow destination={one} troubles={troubles} /> },
    {
      head: own().fromDomains,
      class: 'c-destination c-spare cut',
      cell: (one) => <span title={domainsOf(one)}>{domainsOf(one) || '–'}</span>,
    },
    { head: own().lastDay, class: 'c-strip', cell: (one) => <DayOf destination={one} days={days} /> },
    { head: w.environment, class: 'c-time c-spare', cell: ({ environment }) => environment ?? '–' },
    { head: w.priority, class: 'c-took', cell: ({ priority }) => priority },
    {
      head: own().errorsLastHour,
      class: 'c-took num',
      cell: ({ id }) => <Errors id={id} healths={healths} />,
    },
    {
      head: 'p50 / p95',
      class: 'c-outcome num',
      cell: ({ id }) => {
        const hour = healths.get(id)?.last_hour
        return hour && hour.p50_ms !== null ? `${String(hour.p50_ms)} / ${String(hour.p95_ms)} ms` : '–'
      },
    },
  ]
}

/** The mode, or the pause of a live destination. The mark is that of its finding. */
function ModeNow({ destination, troubles }: { readonly destination: Destination; readonly troubles: Troubles }): JSX.Element {
  const mark = markOf(destination, troubles)
  if (!troubles.has(destination.id)) return <Mode mode={destination.mode} />
  return (
    <span class="status">
      <Mark name={mark} />
      {mark === 'paused' ? texts().paused : texts().modeLive}
    </span>
  )
}

/** Share of failed attempts within the last hour. */
function Errors({ id, healths }: { readonly id: string; readonly healths: Healths }): JSX.Element {
  const hour = healths.get(id)?.last_hour
  if (!hour || hour.attempts === 0) return <span>–</span>
  return <span title={`${texts().attemptsLastHour}: ${number(hour.attempts)}`}>{rate(hour.errors, hour.attempts)}</span>
}

function DayOf({ destination: { id, name }, days }: { readonly destination: Destination; readonly days: Days }): JSX.Element {
  const day = days.find(({ destination_id: of }) => of === id)
  return <HealthStrip health={day} label={stripText(name, day?.totals)} />
}
