/** Screen for replays of failed messages: running and finished ones, and the form for a new one. */
import type { JSX } from 'preact'
import { link, linkHere, projectId } from '../app/location.ts'
import { isMakingNew, mayChange } from '../app/permissions.ts'
import { useList, useTicks } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { FeatureNote, useFlag } from '../parts/feature.tsx'
import { Icon } from '../parts/icon.tsx'
import { List, Moment } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { State } from '../parts/states.tsx'
import { number } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { Replay } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { NewReplay } from './new-replay.tsx'
import { FilterText, markOf, ReplayStatus, useDestinationNames } from './replay-marks.tsx'
import { ReplayPage } from './replay-page.tsx'
import { texts } from './replays-texts.ts'

export default function Replays({ rest: [id] }: ScreenProps): JSX.Element {
  if (id !== undefined) return <ReplayPage key={id} id={id} />
  return isMakingNew(mayChange) ? <NewReplay /> : <ReplayList />
}

const everyMs = 5000

function ReplayList(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const flag = useFlag('bulk_replay')
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useList('/v1/replays', { query: project })
  const nameOf = useDestinationNames()
  const rows = list.read.data ?? []
  const running = rows.filter(({ status }) => status === 'running').length
  useTicks(running > 0 ? everyMs : undefined, list.refresh)
  const isOff = flag?.enabled === false
  const begin = mayChange.value && !isOff && (
    <a class="button primary" href={linkHere({ new: '1' })}>
      <Icon name="plus" />
      <span class="shell-label">{common.newReplay}</span>
    </a>
  )
  return (
    <>
      <TopBar title={common.replays}>{begin}</TopBar>
      <div class="sheet">
        {isOff ? (
          <State title={w.off} text={w.noneText}>
            <FeatureNote flag={flag} />
          </State>
        ) : (
          <>
            {rows.length > 0 && (
              <div class="say">
                <h2>{running === 0 ? w.noneRunning : w.running({ count: running })}</h2>
                <p>{w.listText}</p>
              </div>
            )}
            <List
              label={common.replays}
              list={list}
              failure={w.failed}
              keyOf={keyOf}
              open={(replay) => link(`/queue/replays/${keyOf(replay)}`)}
              empty={
                <State title={w.none} text={w.noneText}>
                  {begin && <div class="actions">{begin}</div>}
                </State>
              }
              columns={[
                { head: w.begun, class: 'c-time', cell: (replay) => <a href={link(`/queue/replays/${keyOf(replay)}`)}>{begun(replay)}</a> },
                { head: common.status, class: 'c-status', cell: ({ status }) => <ReplayStatus status={status} /> },
                { head: w.which, class: 'strong', cell: (replay) => <FilterText replay={replay} nameOf={nameOf} /> },
                { head: w.replayed, class: 'c-took num', cell: ({ counters }) => number(counters.replayed) },
                { head: w.skipped, class: 'c-took num', cell: ({ counters }) => number(counters.skipped) },
                { head: w.refused, class: 'c-took num', cell: ({ counters }) => number(counters.refused) },
              ]}
              narrow={(replay) => [
                <Mark name={markOf(replay.status)} />,
                <FilterText replay={replay} nameOf={nameOf} />,
                `${w.statuses[replay.status]} · ${w.replayed} ${number(replay.counters.replayed)} · ${w.refused} ${number(replay.counters.refused)}`,
                begun(replay),
              ]}
            />
          </>
        )}
      </div>
    </>
  )
}

const keyOf = ({ job_id: id }: Replay): string => id ?? ''
const begun = ({ created_at: at }: Replay): JSX.Element | string => (at === null ? '–' : <Moment at={at} />)
