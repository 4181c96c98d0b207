/** One act on the queue: how far it is, and the ways to stop it and to take it back. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { asFault, useRead, useTicks } from '../app/query.ts'
import { CopyButton, Gauge, useBusy } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { longTime, number, shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { getQueueAct, stopQueueAct, type QueueAct } from '../wire/operations.ts'
import { words as allWords } from '../words/words.ts'
import { ActStatus, FilterWords } from './act-marks.tsx'
import { releaseHeldBy } from './release.ts'
import { words } from './queue-words.ts'

const runningMs = 1000

export function ActPage({ id }: { readonly id: string }): JSX.Element {
  const w = words()
  const read = useRead(getQueueAct, { path: { id } }, { isShown: true })
  useTicks(read.data?.status === 'running' ? runningMs : undefined, read.reload)
  const [isBusy, start] = useBusy()
  const stop = async (): Promise<void> => {
    try {
      await call(stopQueueAct, { path: { id } })
      toast(w.stopped)
    } catch (error) {
      toast(asFault(error).message)
    }
    read.reload()
  }
  const act = read.data
  return (
    <>
      <TopBar
        title={w.title}
        heading={
          <>
            <a href={link('/queue/acts')}>{w.acts}</a>
            <span class="cut">{act?.created_at == null ? '' : shortTime(act.created_at)}</span>
          </>
        }
        {...(act?.status === 'running' && { isLive: true })}
      >
        {mayChange.value && act?.status === 'running' && (
          <button class="button danger" aria-disabled={isBusy} onClick={() => start(stop)}>
            {w.stop}
          </button>
        )}
        {mayChange.value && act?.act === 'hold' && act.status !== 'running' && act.counters.acted > 0 && (
          <button class="button" aria-disabled={isBusy} onClick={() => start(() => releaseHeldBy(id))}>
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
  const w = words()
  if (status === 'finished') return w.finishedSay[act](acted)
  return status === 'stopped' ? w.stoppedSay(acted) : w.runningSay(acted)
}

function Shown({ act }: { readonly act: QueueAct }): JSX.Element {
  const w = words()
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
        <div class="block" key={title}>
          <div class="note warn">
            <Mark name="warning" />
            <p>
              <b>{title}</b> <span lang="en">{text}</span>
            </p>
          </div>
        </div>
      ))}
      <Counters act={act} />
      <Facts act={act} />
    </>
  )
}

function Counters({ act: { counters, expected } }: { readonly act: QueueAct }): JSX.Element {
  const w = words()
  const { acted, in_flight: later, skipped } = counters
  const of = expected ?? 0
  const figures = [
    [w.done, acted, of > 0 ? allWords().of(number(of)) : ''],
    [w.inFlight, later, ''],
    [w.skipped, skipped, w.skippedText],
  ] as const
  return (
    <dl class="ledger">
      {figures.map(([name, value, unit], i) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b>{number(value)}</b> <span>{unit}</span>
            {i === 0 && of > 0 && <Gauge used={acted + skipped} limit={of} isProgress />}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Facts({ act }: { readonly act: QueueAct }): JSX.Element {
  const [w, common] = [words(), allWords()]
  const { id, reason, requested_by: by, created_at: made } = act
  const rows: readonly (readonly [name: string, value: JSX.Element | string])[] = [
    [w.act, w.verbs[act.act]],
    [common.status, <ActStatus status={act.status} />],
    [w.which, <FilterWords act={act} />],
    [w.reason, <SafeText text={reason ?? '–'} />],
    [w.by, by ?? '–'],
    [w.when, made === null ? '–' : longTime(made)],
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
        <a href={link('/audit', { target: id ?? '' })}>{w.inAudit}</a>
        {act.act === 'hold' && (
          <>
            {' · '}
            <a href={link('/queue', { held: 'true', held_by: id ?? '' })}>{w.heldNow}</a>
          </>
        )}
      </p>
    </div>
  )
}
