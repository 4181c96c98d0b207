/** Screen for traces: filters in the address, pages by cursor, a pill for new entries, and a trace panel. */
import type { JSX } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { call } from '../app/api.ts'
import { keyFor, useKeys } from '../app/keys.ts'
import { useListKeys } from '../selection/list-keys.ts'
import { everyMs, useChanges } from '../app/live.ts'
import { go, link, linkHere, projectId, query } from '../app/location.ts'
import { useNewest } from '../app/new-entries.ts'
import { mayChange } from '../app/permissions.ts'
import { useList, useRead, useTicks, type Listing } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { Pills } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { Icon } from '../parts/icon.tsx'
import { NewPill as Pill } from '../parts/new-pill.tsx'
import { Show, State } from '../parts/states.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { SendTest } from '../overview/test-dialog.ts'
import { filterNames, filtersOf, listOf, type Filters } from './filters.ts'
import { QueryBar } from './query-bar.tsx'
import { ColumnsMenu, ViewsMenu } from './view-menus.tsx'
import { rememberTraces } from '../trace/trace-order.ts'
import { TracePage } from '../trace/trace-page.tsx'
import { TracePanel } from '../trace/trace-panel.tsx'
import { TraceRows } from './trace-rows.tsx'
import type { TraceSummary } from '../wire/api.d.ts'
import type { Input } from '../wire/route.ts'
import { texts } from '../texts/texts.ts'
import { number } from '../parts/time.ts'
import { SelectionBar, useSelection } from '../selection/selection.tsx'
import { Chosen } from '../selection/chosen-traces.tsx'
import { saveTraces } from '../selection/trace-file.ts'
import { useNear } from './windowed.ts'
import { Density } from './density.tsx'
import { texts as ownTexts } from './traces-texts.ts'

const pageSize = 50
const morePageSize = 200
const newEveryMs = 10_000

export default function Traces({ rest: [id] }: ScreenProps): JSX.Element {
  return id === undefined ? <TraceList /> : <TracePage key={id} id={id} />
}

const statuses = [
  'delivered',
  'sent',
  'queued',
  'captured',
  'bounced',
  'complained',
  'failed',
  'suppressed',
  'canceled',
  'validation_failed',
] as const

type InputOfTraces = Input<'/v1/traces'>

const inputOf = (filters: Filters): { query: NonNullable<InputOfTraces['query']> } => ({
  query: { ...filters, ...(projectId.value !== undefined && { project: projectId.value }) } as NonNullable<InputOfTraces['query']>,
})

function TraceList(): JSX.Element {
  const w = texts()
  const filters = filtersOf(query.value)
  const list = useList('/v1/traces', inputOf(filters), { first: pageSize, moreLimit: morePageSize })
  const own = ownTexts()
  const destinations = useAll('/v1/destinations', {})
  const [isSending, setSending] = useState(false)
  const shown = query.value.get('trace') ?? undefined
  const rows = list.read.data ?? []
  const isFiltered = Object.keys(filters).length > 0
  useFirst(list)
  useEffect(() => rememberTraces(linkHere({ trace: '' }), rows), [list.read.data, query.value])
  const { select, step } = usePanel(shown, rows)
  const selection = useSelection(rows, ({ trace_id: id }) => id, true)
  const { rows: chosen, clear } = selection
  const exportRows = (): void => saveTraces(chosen.length > 0 ? chosen : rows)
  useKeys({ e: exportRows }, [rows, chosen.length])
  return (
    <>
      <TopBar title={w.traces} isLive={list.read.state !== 'failed'}>
        {rows.length > 0 && (
          <button class="button quiet" aria-keyshortcuts={keyFor('e')} title={own.save} onClick={exportRows}>
            <Icon name="download" />
            <span class="shell-label">CSV</span>
          </button>
        )}
        {mayChange.value && (
          <button class="button wide-only" onClick={() => setSending(true)}>
            {w.sendTest}
          </button>
        )}
      </TopBar>
      <div class="sheet">
        <div class="filters">
          <QueryBar filters={filters} destinations={destinations.read.data ?? []} />
          <Density since={filters.since} until={filters.until} />
          <div class="facets">
            <Statuses filters={filters} newest={rows[0]?.trace_id} />
            <ViewsMenu />
            <span class="tables-only">
              <ColumnsMenu />
            </span>
          </div>
          <NewPill filters={filters} since={rows[0]?.created_at} onShow={list.reload} />
        </div>
        <Show read={list.read} reload={list.reload} failure={w.tracesFailed}>
          {(traces) =>
            traces.length === 0 ? (
              <Nothing filters={filters} isFiltered={isFiltered} onSend={() => setSending(true)} />
            ) : (
              <>
                <SelectionBar selection={selection} bulk={(some) => <Chosen chosen={some} onDone={() => [clear(), list.reload()]} />} />
                <TraceRows
                  {...{ traces, selection, selected: shown }}
                  destinations={destinations.read.data ?? []}
                  onSelect={(id) => select(id)}
                />
                {list.more && <More count={traces.length} more={list.more} isLoading={list.isLoadingMore} />}
              </>
            )
          }
        </Show>
      </div>
      {shown !== undefined && <TracePanel id={shown} onClose={() => select(undefined)} onStep={step} />}
      {isSending && <SendTest onClose={() => setSending(false)} />}
    </>
  )
}

interface StatusesProps {
  readonly filters: Filters
  /** Id of the first row: a new one makes the counts outdated. */
  readonly newest: string | undefined
}

/** Status filter with the number of messages in each. `bounced` includes refused recipients, whose message has the status `failed`. */
function Statuses({ filters: { status, has, ...others }, newest }: StatusesProps): JSX.Element {
  const w = texts()
  const features = listOf(has).filter((feature) => feature !== 'bounce')
  const wanted = {
    ...others,
    ...(features.length > 0 && { has: features.join(',') }),
    ...(projectId.value && { project: projectId.value }),
  }
  const { data: counted, refresh } = useRead('/v1/traces/counts', { query: wanted as NonNullable<Input<'/v1/traces/counts'>['query']> })
  useEffect(() => refresh(), [newest])
  const countOf = (name: string): number => (name === 'bounced' ? counted?.bounces : counted?.counts[name]) ?? 0
  return (
    <Pills
      label={w.status}
      value={status ?? (listOf(has).includes('bounce') ? 'bounced' : '')}
      onChoose={(next) =>
        go(
          next === 'bounced'
            ? linkHere({ status: '', has: [...features, 'bounce'].join(','), trace: '' })
            : linkHere({ status: next, has: features.join(','), trace: '' }),
        )
      }
      pills={[
        { value: '', label: w.all },
        ...statuses.map((name) => ({
          value: name,
          label: (
            <>
              <Mark name={name} />
              {name.replaceAll('_', ' ')}
              {counted && countOf(name) > 0 && (
                <span class="count">
                  {counted.complete ? '' : '≥ '}
                  {number(countOf(name))}
                </span>
              )}
            </>
          ),
        })),
      ]}
    />
  )
}

/** Loads older entries near the end of the list. The button serves keyboard users. */
function More({ count, more, isLoading }: { readonly count: number; readonly more: () => void; readonly isLoading: boolean }): JSX.Element {
  const end = useRef<HTMLDivElement>(null)
  useNear(end, isLoading ? undefined : more)
  return (
    <div class="more" ref={end}>
      <span class="faint">{ownTexts().loaded({ n: number(count) })}</span>{' '}
      <button class="button" aria-disabled={isLoading} onClick={() => isLoading || more()}>
        {texts().older}
      </button>
    </div>
  )
}

/** Selects the trace in the panel, and binds the keys for it. */
function usePanel(shown: string | undefined, rows: readonly TraceSummary[]) {
  const select = (id: string | undefined): void => go(linkHere({ trace: id }), { replaces: shown !== undefined })
  const step = useListKeys(
    {
      rows,
      isOpen: ({ trace_id: id }) => id === shown,
      onOpen: ({ trace_id: id }) => select(id),
      begin: shown === undefined ? () => document.querySelector<HTMLElement>('.traces tbody tr')?.focus() : undefined,
      ...(shown !== undefined && { onClose: () => select(undefined), others: { Enter: () => go(link(`/traces/${shown}`)) } }),
    },
    [shown],
  )
  return { select, step }
}

interface NothingProps {
  readonly filters: Filters
  readonly isFiltered: boolean
  readonly onSend: () => void
}

function Nothing({ filters, isFiltered, onSend }: NothingProps): JSX.Element {
  const w = texts()
  if (!isFiltered)
    return (
      <State title={w.noTraces} text={w.noTracesText}>
        {mayChange.value && (
          <div class="actions">
            <button class="button primary" onClick={onSend}>
              {w.sendTest}
            </button>
          </div>
        )}
      </State>
    )
  const names = Object.entries(filters)
  return (
    <State title={w.nothingMatches} text={w.nothingMatchesText} drawing={<Icon name="search" />}>
      <div class="actions">
        {names.map(([name, value]) => (
          <a key={name} class="button" href={linkHere({ [name]: '' })}>
            {w.without} <code>{`${name}:${value}`}</code>
          </a>
        ))}
        <a class="button quiet" href={linkHere(Object.fromEntries(filterNames.map((name) => [name, ''])))}>
          {w.clearAll}
        </a>
      </div>
    </State>
  )
}

/** Reloads an empty list when entries arrive. */
function useFirst({ read, reload }: Listing<TraceSummary>): void {
  const isEmpty = read.state === 'ready' && read.data.length === 0
  const look = useCallback(() => void (isEmpty && reload()), [isEmpty, reload])
  useTicks(everyMs(newEveryMs), look)
  useChanges('traces', look)
}

/** Pill with the number of new entries. Pressing it shows them. */
function NewPill({
  filters,
  since,
  onShow,
}: {
  readonly filters: Filters
  readonly since: string | undefined
  readonly onShow: () => void
}): JSX.Element {
  const [count, setCount] = useState(0)
  const key = JSON.stringify(filters)
  const { ask, forget } = useNewest()
  useEffect(() => {
    forget()
    setCount(0)
  }, [since, key])
  const look = useCallback(() => {
    if (since === undefined || filters['until'] !== undefined) return
    const later = new Date(Date.parse(since) + 1).toISOString()
    const input = inputOf({ ...filters, since: later })
    const isNewest = ask()
    call('/v1/traces', input).then(
      ({ data }) => isNewest() && setCount(data.length),
      () => undefined,
    )
  }, [since, key])
  useTicks(everyMs(newEveryMs), look)
  useChanges('traces', look)
  return <Pill added={count} changed={0} onShow={onShow} />
}
