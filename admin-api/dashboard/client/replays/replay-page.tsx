/** Page of a replay: progress, results and the stop button. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { link, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { useRead } from '../app/query.ts'
import { JobFacts, JobFigures, JobNote, useJob } from '../jobs/job-parts.tsx'
import { useBusy } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { longTime, number, shortTime } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { Replay } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { sameFilter } from './filter.ts'
import { FilterText, ReplayStatus, useDestinationNames } from './replay-marks.tsx'
import { texts } from './replays-texts.ts'

export function ReplayPage({ id }: { readonly id: string }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const read = useRead('/v1/replays/{job_id}', { path: { job_id: id } }, { isShown: true })
  const [isBusy, start] = useBusy()
  const stop = useJob(
    read.data?.status === 'running',
    read,
    () => call('POST /v1/replays/{job_id}/stop', { path: { job_id: id } }),
    w.stopped,
  )
  const replay = read.data
  return (
    <>
      <TopBar
        title={w.title}
        heading={
          <>
            <a href={link('/queue/replays')}>{common.replays}</a>
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
          <a class="button" href={link('/queue/replays', sameFilter(replay))}>
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
  const w = texts()
  const { status, counters, stopped_because: because } = replay
  const replayed = number(counters.replayed)
  const says = { running: w.runningSay, finished: w.finishedSay, stopped: w.stoppedSay, preview: w.runningSay }
  return (
    <>
      <div class="say">
        <h2>{says[status]({ replayed })}</h2>
        <p>{w.sayText}</p>
      </div>
      {because !== null && <JobNote title={w.stoppedBecause} text={because} />}
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
  const w = texts()
  const { examined, replayed, skipped, refused } = counters
  const figures = [
    { name: w.examined, value: examined },
    { name: w.replayed, value: replayed },
    { name: w.skipped, value: skipped, unit: w.skippedText },
    { name: w.refused, value: refused },
  ]
  return <JobFigures figures={figures} of={status === 'finished' ? examined : Number(query.value.get('of') ?? 0)} done={examined} />
}

const Problems = ({ problems }: Pick<Replay, 'problems'>): JSX.Element => (
  <div class="block">
    <h2>{texts().problems}</h2>
    {problems.length === 0 ? (
      <p class="soft">{texts().noProblems}</p>
    ) : (
      <>
        <p class="soft">{texts().problemsText}</p>
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
  const [w, common] = [texts(), allTexts()]
  const nameOf = useDestinationNames()
  const { filter, target_destination_id: target, job_id: id } = replay
  const asked = { to: filter.to, from: filter.from, destination_id: filter.destination_id, since: filter.since, until: filter.until }
  const inTraces = Object.fromEntries(Object.entries(asked).map(([name, value]) => [name, value ?? undefined]))
  const rows: readonly (readonly [name: string, value: JSX.Element | string])[] = [
    [common.status, <ReplayStatus status={replay.status} />],
    [w.which, <FilterText replay={replay} nameOf={nameOf} />],
    [w.target, target === null ? w.sameAsBefore : <a href={link(`/destinations/${target}`)}>{nameOf(target)}</a>],
    [w.unknownToo, replay.include_unknown ? w.yes : w.no],
    [w.begun, replay.created_at === null ? '–' : longTime(replay.created_at)],
  ]
  return (
    <div class="block">
      <JobFacts rows={rows} id={id} />
      <p>
        <a href={link('/traces', inTraces)}>{w.tracesOfIt}</a>
      </p>
    </div>
  )
}
