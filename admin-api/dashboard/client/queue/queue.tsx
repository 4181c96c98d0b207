/** Screen for the queue: numbers, messages, and actions on all matching or selected messages. */
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { go, linkHere, projectId } from '../app/location.ts'
import { useList, useRead } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { Pills } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Loading, NothingMatches, Show, State } from '../parts/states.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { ownQueue } from '../queue-side/own-queue.ts'
import { Side, useSide, type QueueSide } from '../queue-side/queue-side.ts'
import type { QueuedMessage } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { ActDialog, type Asked } from './act-dialog.tsx'
import { ActPage } from './act-page.tsx'
import { ActList } from './acts.tsx'
import {
  actFilter,
  actNames,
  chosenNow,
  holdFilter,
  isFiltered,
  listQuery,
  withoutFilters,
  type ActName,
  type NamedDestination,
} from './filter.ts'
import { FilterForm } from './filter-form.tsx'
import { Counts } from './counts.tsx'
import { NewHold } from '../queue-holds/new-hold.tsx'
import { Standing } from '../queue-holds/standing.tsx'
import { DestinationName, QueueState, StateMark, To, When } from './queued-cells.tsx'
import { texts } from './queue-texts.ts'

export default function Queue(): JSX.Element {
  return <QueueScreens side={ownQueue} rest={[]} />
}

interface QueueScreensProps extends ScreenProps {
  readonly side: QueueSide
  /** Heading with a link to the choice of the organization. */
  readonly heading?: JSX.Element | undefined
}

export function QueueScreens({ side, rest: [part, id], heading }: QueueScreensProps): JSX.Element {
  return (
    <Side.Provider value={side}>
      {part !== 'acts' ? <Waiting heading={heading} /> : id === undefined ? <ActList /> : <ActPage key={id} id={id} />}
    </Side.Provider>
  )
}

/** Returns destinations with names. For the operator, only destinations with a currently active queue are known. */
function useDestinations({ organization }: QueueSide, project: { readonly project?: string }): readonly NamedDestination[] {
  const isOwn = organization === undefined
  const own = useAll('/v1/destinations', isOwn ? { query: project } : undefined).read.data
  const lanes = useRead('/operator/v1/system', isOwn ? undefined : {}).data?.lanes
  if (isOwn) return own ?? []
  const ofIt = (lanes ?? []).filter((lane) => lane.organization_id === organization)
  const names = new Map(ofIt.map(({ destination_id: id, destination_name: name }) => [id, name ?? id]))
  return [...names].map(([id, name]) => ({ id, name }))
}

function Waiting({ heading }: Pick<QueueScreensProps, 'heading'>): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const side = useSide()
  const mayChange = side.mayChange()
  const chosen = chosenNow()
  const ofProject = side.organization === undefined ? projectId.value : chosen.of_project || undefined
  const key = JSON.stringify([chosen, ofProject])
  const [nowMs, narrowed] = useMemo(() => [Date.now(), listQuery(chosen, ofProject, Date.now())] as const, [key])
  const project = ofProject === undefined ? {} : { project: ofProject }
  const destinations = useDestinations(side, project)
  const list = useList(...side.messages(narrowed))
  const counts = useRead(...side.counts(narrowed))
  const holds = useList(...side.holds(project), { isShown: false })
  // counts and holds are above the list, so everything appears at once
  const isKnown = [counts, holds.read].every(({ state, data }) => state !== 'loading' || data !== undefined)
  const [acting, setActing] = useState<Asked>()
  const [isHolding, setHolding] = useState(false)
  const reload = (): void => {
    list.reload()
    counts.reload()
    holds.reload()
  }
  return (
    <>
      <TopBar title={common.queue} {...(heading && { heading })}>
        <LoadAgain onClick={reload} />
        {side.organization !== undefined && <HistoryLink href={side.actsLink()} />}
      </TopBar>
      <div class="sheet">
        {isKnown ? (
          <>
            <Show read={counts} reload={counts.reload} failure={w.failed} rows={2}>
              {(found) => <Counts counts={found} destinations={destinations} />}
            </Show>
            <Standing list={holds} />
            <FilterForm chosen={chosen} destinations={destinations} />
            <div class="filters">
              <HeldPills held={chosen.held} />
              {mayChange && (
                <FoundVerbs
                  count={counts.data?.count ?? 0}
                  onAct={(act) => setActing({ act, filter: actFilter(chosen, ofProject, nowMs) })}
                  onHold={() => setHolding(true)}
                  of={chosen.held}
                />
              )}
            </div>
            <List
              label={common.queue}
              list={list}
              failure={w.failed}
              keyOf={({ trace_id: id }) => id}
              nameOf={({ to }) => to.join(', ')}
              bulk={mayChange && ((rows, done) => <Bulk rows={rows} onAct={(act) => setActing({ act, filter: ofRows(rows), done })} />)}
              empty={<Nothing isNarrowed={isFiltered(chosen)} />}
              {...rowsOf(destinations)}
            />
          </>
        ) : (
          <Loading />
        )}
      </div>
      {isHolding && (
        <NewHold filter={holdFilter(chosen, ofProject)} destinations={destinations} onDone={reload} onClose={() => setHolding(false)} />
      )}
      {acting && <ActDialog asked={acting} destinations={destinations} onClose={() => setActing(undefined)} />}
    </>
  )
}

const LoadAgain = ({ onClick }: { readonly onClick: () => void }): JSX.Element => (
  <button class="button" onClick={onClick} title={allTexts().loadAgain}>
    <Icon name="refresh" />
    <span class="shell-label">{allTexts().loadAgain}</span>
  </button>
)

/** Link to the actions. The own queue has a tab for them. */
const HistoryLink = ({ href }: { readonly href: string }): JSX.Element => (
  <a class="button" href={href} title={texts().acts}>
    <Icon name="scheduled" />
    <span class="shell-label">{texts().acts}</span>
  </a>
)

const ofRows = (rows: readonly QueuedMessage[]) => ({ trace_ids: rows.map(({ trace_id: id }) => id) })

function rowsOf(destinations: readonly NamedDestination[]): Pick<Parameters<typeof List<QueuedMessage>>[0], 'columns' | 'narrow'> {
  const [w, common] = [texts(), allTexts()]
  return {
    columns: [
      { head: w.state, class: 'c-queue-state', cell: (one) => <QueueState one={one} /> },
      { head: w.message, class: 'strong', cell: (one) => <To one={one} /> },
      { head: w.destination, class: 'c-destination', cell: ({ destination_id: id }) => <DestinationName id={id} among={destinations} /> },
      { head: w.next, class: 'c-status', cell: (one) => <When one={one} /> },
      { head: common.attempts, class: 'c-took num', cell: ({ attempts }) => attempts },
      { head: w.lastReply, cell: ({ last_reply: reply }) => <span lang="en">{reply ?? '–'}</span> },
    ],
    narrow: (one) => [
      <StateMark state={one.state} />,
      <To one={one} />,
      <>
        {w.states[one.state]} · <DestinationName id={one.destination_id} among={destinations} /> · <When one={one} />
      </>,
    ],
  }
}

function HeldPills({ held }: { readonly held: string }): JSX.Element {
  const w = texts()
  return (
    <Pills
      label={w.state}
      value={held}
      onChoose={(next) => go(linkHere({ held: next }))}
      pills={[
        { value: '', label: w.all },
        { value: 'true', label: w.heldOnly },
        { value: 'false', label: w.notHeld },
      ]}
    />
  )
}

interface VerbsProps {
  readonly onAct: (act: ActName) => void
  /** Shows only held messages, or only others. */
  readonly of?: string
}

function Verbs({ onAct, of = '' }: VerbsProps): JSX.Element {
  const fits = (act: ActName): boolean => act === 'drop' || (act === 'release' ? of !== 'false' : of !== 'true')
  return (
    <>
      {actNames.filter(fits).map((act) => (
        <button key={act} class={`button small${act === 'drop' ? ' danger' : ''}`} onClick={() => onAct(act)}>
          {texts().verbs[act]}…
        </button>
      ))}
    </>
  )
}

interface FoundVerbsProps extends VerbsProps {
  /** Messages that the filter finds. */
  readonly count: number
  readonly onHold: () => void
}

const FoundVerbs = ({ count, onHold, ...verbs }: FoundVerbsProps): JSX.Element => (
  <span class="queue-verbs">
    {count > 0 && <Verbs {...verbs} />}
    <button class="button small" onClick={onHold}>
      {texts().holdComing}
    </button>
  </span>
)

const Bulk = ({ rows, onAct }: VerbsProps & { readonly rows: readonly QueuedMessage[] }): JSX.Element => {
  const isAll = (isHeld: boolean): boolean => rows.every(({ held }) => (held !== null) === isHeld)
  return (
    <span class="queue-verbs">
      <Verbs onAct={onAct} of={isAll(true) ? 'true' : isAll(false) ? 'false' : ''} />
    </span>
  )
}

const Nothing = ({ isNarrowed }: { readonly isNarrowed: boolean }): JSX.Element =>
  isNarrowed ? <NothingMatches all={withoutFilters()} /> : <State title={texts().nothing} text={texts().nothingText} />
