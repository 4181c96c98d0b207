/** One replay: how far it is, the outcome of its messages, and the way to stop it. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { link, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { asFault, useRead, useTicks } from '../app/query.ts'
import { CopyButton, Gauge, useBusy } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { longTime, number, shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { getReplay, stopReplay, type Replay } from '../wire/operations.ts'
import { words as allWords } from '../words/words.ts'
import { sameFilter } from './filter.ts'
import { FilterWords, ReplayStatus, useDestinationNames } from './replay-marks.tsx'
import { words } from './replays-words.ts'

const runningMs = 1000

export function ReplayPage({ id }: { readonly id: string }): JSX.Element {
  const [w, common] = [words(), allWords()]
  const read = useRead(getReplay, { path: { job_id: id } }, { isShown: true })
  useTicks(read.data?.status === 'running' ? runningMs : undefined, read.reload)
  const [isBusy, start] = useBusy()
  const stop = async (): Promise<void> => {
    try {
      await call(stopReplay, { path: { job_id: id } })
      toast(w.stopped)
    } catch (error) {
      toast(asFault(error).message)
    }
    read.reload()
  }
  const replay = read.data
  return (
    <>
      <TopBar
        title={w.title}
        heading={
          <>
            <a href={link('/replays')}>{common.replays}</a>
            <span class="cut">{replay?.created_at == null ? w.title : shortTime(replay.created_at)}</span>
          </>
        }
        {...(replay?.status === 'running' && { isLive: true })}
      >
        {mayChange.value && replay?.status === 'running' && (
          <button class="button danger" aria-disabled={isBusy} onClick={() => start(stop)}>
            {w.stop}
          </button>
        )}
        {mayChange.value && replay && replay.status !== 'running' && (
          <a class="button" href={link('/replays', sameFilter(replay))}>
            {replay.status === 'stopped' ? w.theRest : w.again}
          </a>
        )}
      </TopBar>
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.failed}>
          {(shown) => <Shown replay={shown} />}
        </Show>
      </div>
    </>
  )
}

function Shown({ replay }: { readonly replay: Replay }): JSX.Element {
  const w = words()
  const { status, counters, stopped_because: because } = replay
  const replayed = number(counters.replayed)
  const says = { running: w.runningSay, finished: w.finishedSay, stopped: w.stoppedSay, preview: w.runningSay }
  return (
    <>
      <div class="say">
        <h2>{says[status](replayed)}</h2>
        <p>{w.sayText}</p>
      </div>
      {because !== null && (
        <div class="block">
          <div class="note warn">
            <Mark name="warning" />
            <p>
              <b>{w.stoppedBecause}</b> <span lang="en">{because}</span>
            </p>
          </div>
        </div>
      )}
      <Counters replay={replay} />
      <div class="columns">
        <section aria-label={w.problems}>
          <Problems problems={replay.problems} />
        </section>
        <aside aria-label={w.title}>
          <Facts replay={replay} />
        </aside>
      </div>
    </>
  )
}

function Counters({ replay: { counters, status } }: { readonly replay: Replay }): JSX.Element {
  const w = words()
  const { examined, replayed, skipped, refused } = counters
  const of = status === 'finished' ? examined : Number(query.value.get('of') ?? 0)
  const figures = [
    [w.examined, examined, of > 0 ? allWords().of(number(of)) : ''],
    [w.replayed, replayed, ''],
    [w.skipped, skipped, w.skippedText],
    [w.refused, refused, ''],
  ] as const
  return (
    <dl class="ledger">
      {figures.map(([name, value, unit], i) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b>{number(value)}</b> <span>{unit}</span>
            {i === 0 && of > 0 && <Gauge used={value} limit={of} isProgress />}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const Problems = ({ problems }: Pick<Replay, 'problems'>): JSX.Element => (
  <div class="block">
    <h2>{words().problems}</h2>
    {problems.length === 0 ? (
      <p class="soft">{words().noProblems}</p>
    ) : (
      <>
        <p class="soft">{words().problemsText}</p>
        <ul class="links">
          {problems.map(({ trace_id: id, reason }) => (
            <li key={id}>
              <Mark name="refused" />
              <span lang="en">
                <SafeText text={reason} />
              </span>
              <a href={link(`/traces/${id}`)}>
                <code>{id.slice(0, 8)}</code>
              </a>
            </li>
          ))}
        </ul>
      </>
    )}
  </div>
)

function Facts({ replay }: { readonly replay: Replay }): JSX.Element {
  const [w, common] = [words(), allWords()]
  const nameOf = useDestinationNames()
  const { filter, target_destination_id: target, job_id: id } = replay
  const asked = { to: filter.to, from: filter.from, destination_id: filter.destination_id, since: filter.since, until: filter.until }
  const inTraces = Object.fromEntries(Object.entries(asked).map(([name, value]) => [name, value ?? undefined]))
  const rows: readonly (readonly [name: string, value: JSX.Element | string])[] = [
    [common.status, <ReplayStatus status={replay.status} />],
    [w.which, <FilterWords replay={replay} nameOf={nameOf} />],
    [w.target, target === null ? w.sameAsBefore : <a href={link(`/destinations/${target}`)}>{nameOf(target)}</a>],
    [w.unknownToo, replay.include_unknown ? w.yes : w.no],
    [w.begun, replay.created_at === null ? '–' : longTime(replay.created_at)],
  ]
  return (
    <div class="block">
      <dl class="facts">
        {rows.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
        <dt>id</dt>
        <dd>
          {id}
          <CopyButton text={id ?? ''} label={common.copyId} />
        </dd>
      </dl>
      <p>
        <a href={link('/traces', inTraces)}>{w.tracesOfIt}</a>
      </p>
    </div>
  )
}
