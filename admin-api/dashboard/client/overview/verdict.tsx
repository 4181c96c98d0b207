/** Top of the overview: a sentence about outgoing mail, the figures of the day, and the most urgent findings. */
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { boot } from '../app/boot.ts'
import { later } from '../app/later.tsx'
import { link } from '../app/location.ts'
import { inOrder } from '../findings/finding-order.ts'
import { useSteady } from '../findings/steady.ts'
import { NewPill } from '../parts/new-pill.tsx'
import { plain } from '../parts/safe-text.tsx'
import { number, span } from '../parts/time.ts'
import type { Finding, QueueCounts } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { ProjectState } from './project-state.tsx'
import { messagesOf, sentenceOf, type Sentence, type Situation } from './sentence.ts'

/** The sentence does not wait for the texts of the rows. */
const FindingRows = later<{ readonly findings: readonly Finding[] }>(
  () => import('../findings/finding-rows.tsx'),
  () => null,
)

const OperatorRow = later<object>(
  () => import('../findings/operator-row.tsx'),
  () => null,
)

interface VerdictProps {
  /** Undefined until all figures are loaded. */
  readonly situation: Situation | undefined
  /** Open findings. Undefined until they are loaded. */
  readonly findings: readonly Finding[] | undefined
  readonly queue: QueueCounts | undefined
}

/** Remount it for another project. */
export function Verdict({ situation: latest, findings, queue }: VerdictProps): JSX.Element {
  const w = texts()
  const situation = useLatest(latest)
  const { rows, news, place } = usePlaced(situation && findings)
  return (
    <>
      <div class="say">
        <div class="say-head">
          <h2>{situation ? spoken(sentenceOf(situation)) : <span class="faint">{w.loading}</span>}</h2>
          <NewPill {...news} onShow={place} />
        </div>
        <p>
          {situation && w.messagesInDay({ shown: number(messagesOf(situation.sends)), count: messagesOf(situation.sends) })}{' '}
          {queue && <Waits queue={queue} />} {situation?.findings.length === 0 && <a href={link('/findings')}>{w.noOpenFindings}</a>}
        </p>
        <ProjectState />
      </div>
      {rows.length > 0 && <FindingRows findings={rows} />}
      {boot.isOperator && <OperatorRow />}
    </>
  )
}

/** Returns the latest value that was loaded, while further figures are loading. */
function useLatest<T>(value: T | undefined): T | undefined {
  const latest = useRef(value)
  if (value !== undefined) latest.current = value
  return latest.current
}

/** Places rows at the first read and on request. In between, they keep their places. */
function usePlaced(findings: readonly Finding[] | undefined) {
  const [chosen, setChosen] = useState<readonly Finding[]>()
  const now = findings && inOrder(findings)
  const first = useRef(now)
  first.current ??= now
  const placed = chosen ?? first.current
  return { ...useSteady(placed, findings, ({ id }) => now?.some((one) => one.id === id) === true), place: () => setChosen(now) }
}

function spoken(sentence: Sentence): string {
  const w = texts()
  switch (sentence.says) {
    case 'nothing':
      return w.nothingGoesOut
    case 'captured':
      return w.capturedNotSent
    case 'except': {
      const [first, ...others] = sentence.destinations
      return w.sentExcept({ name: plain(first?.name ?? ''), others: others.length })
    }
    case 'exceptProjects': {
      const [first, ...others] = sentence.projects
      return w.sentExceptProjects({ name: plain(first ?? ''), others: others.length })
    }
    case 'late':
      return w.mailIsLate({ time: span(Math.max(1000, Date.now() - sentence.since)) })
    case 'first':
      return w.noMailYet
    case 'quiet':
      return w.nothingWasSent
    case 'all':
      return w.allMailGoesOut
  }
}

function Waits({ queue: { count, held, complete, waiting_since: since } }: { readonly queue: QueueCounts }): JSX.Element {
  const w = texts()
  const waited = since === null ? 0 : Math.max(0, Date.now() - Date.parse(since))
  if (count === 0) return <>{w.nothingWaits}</>
  return (
    <>
      <a href={link('/queue')}>
        {w.waitsInQueue({ shown: complete ? number(count) : `> ${number(count)}`, count, time: span(Math.max(1000, waited)) })}
      </a>{' '}
      {held > 0 && w.ofThemHeld({ held: number(held) })}
    </>
  )
}
