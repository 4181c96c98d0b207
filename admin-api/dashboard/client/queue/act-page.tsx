/** Page of a queue action: progress, stop and undo. */
import type { JSX } from 'preact'
import { useRead } from '../app/query.ts'
import { JobFacts, JobFigures, JobNote, useJob } from '../jobs/job-parts.tsx'
import { useBusy } from '../parts/controls.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { longTime, shortTime } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { QueueLink } from '../queue-side/of-organization.tsx'
import { answer, useSide } from '../queue-side/queue-side.ts'
import type { QueueAct } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { ActStatus, FilterText } from './act-marks.tsx'
import { releaseHeldBy } from './release.ts'
import { texts } from './queue-texts.ts'

export function ActPage({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const side = useSide()
  const read = useRead(...side.oneAct(id), { isShown: true })
  const [isBusy, start] = useBusy()
  const stop = useJob(read.data?.status === 'running', read, () => answer(side.stop(id)), w.stopped)
  const act = read.data
  return (
    <>
      <TopBar
        title={w.title}
        heading={
          <>
            {side.organization !== undefined && <QueueLink />}
            <a href={side.actsLink()}>{w.acts}</a>
            <span class="cut">{act?.created_at == null ? '' : shortTime(act.created_at)}</span>
          </>
        }
        {...(act?.status === 'running' && { isLive: true })}
      >
        {side.mayChange() && act?.status === 'running' && (
          <button class="button danger" aria-disabled={isBusy} onClick={() => start(stop)}>
            {w.stop}
          </button>
        )}
        {side.mayChange() && act?.act === 'hold' && act.status !== 'running' && act.counters.acted > 0 && (
          <button class="button" aria-disabled={isBusy} onClick={() => start(() => releaseHeldBy(side, id))}>
            {w.releaseThese}
          </button>
        )}
      </TopBar>
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.actsFailed}>
          {(shown) => <Shown act={shown} />}
        </Show>
      </div>
    </>
  )
}

const sentenceOf = ({ act, status, counters: { acted } }: QueueAct): string => {
  const w = texts()
  if (status === 'finished') return w.finishedSay[act]({ n: acted })
  return status === 'stopped' ? w.stoppedSay({ n: acted }) : w.runningSay({ n: acted })
}

function Shown({ act }: { readonly act: QueueAct }): JSX.Element {
  const w = texts()
  const notes = [
    ...(act.stopped_because === null ? [] : [[w.stoppedBecause, act.stopped_because] as const]),
    ...(act.complete ? [] : [[w.moreRemain, ''] as const]),
  ]
  return (
    <>
      <div class="say">
        <h2>{sentenceOf(act)}</h2>
        <p>{w.sayAct}</p>
      </div>
      {notes.map(([title, text]) => (
        <JobNote key={title} title={title} text={text} />
      ))}
      <Counters act={act} />
      <Facts act={act} />
    </>
  )
}

function Counters({ act: { counters, expected } }: { readonly act: QueueAct }): JSX.Element {
  const w = texts()
  const { acted, in_flight: later, skipped } = counters
  const figures = [
    { name: w.done, value: acted },
    { name: w.inFlight, value: later },
    { name: w.skipped, value: skipped, unit: w.skippedText },
  ]
  return <JobFigures figures={figures} of={expected ?? 0} done={acted + skipped} />
}

function Facts({ act }: { readonly act: QueueAct }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const side = useSide()
  const { id, reason, requested_by: by, created_at: made } = act
  const rows: readonly (readonly [name: string, value: JSX.Element | string])[] = [
    ...(side.organizationName === undefined ? [] : [[w.organization, <SafeText text={side.organizationName} />] as const]),
    [w.act, w.verbs[act.act]],
    [common.status, <ActStatus status={act.status} />],
    [w.which, <FilterText act={act} />],
    [w.reason, <SafeText text={reason ?? '–'} />],
    [w.by, by ?? '–'],
    [w.when, made === null ? '–' : longTime(made)],
  ]
  return (
    <div class="block">
      <JobFacts rows={rows} id={id} />
      <p>
        <a href={side.auditLink(id ?? '')}>{w.inAudit}</a>
        {act.act === 'hold' && (
          <>
            {' · '}
            <a href={side.queueLink({ held: 'true', held_by: id ?? '' })}>{w.heldNow}</a>
          </>
        )}
      </p>
    </div>
  )
}
