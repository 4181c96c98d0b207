/** Top of the overview: a sentence about outgoing mail, the figures of the day, and the most urgent findings. */
import type { JSX } from 'preact'
import { later } from '../app/later.tsx'
import { link } from '../app/location.ts'
import { plain } from '../parts/safe-text.tsx'
import { number, span } from '../parts/time.ts'
import type { Finding, QueueCounts } from '../wire/operations.ts'
import { texts } from '../texts/texts.ts'
import { ProjectState } from './project-state.tsx'
import { messagesOf, sentenceOf, type Sentence, type Situation } from './sentence.ts'

/** The sentence does not wait for the texts of the rows. */
const FindingRows = later<{ readonly findings: readonly Finding[] }>(
  () => import('../findings/finding-rows.tsx'),
  () => null,
)

interface VerdictProps {
  /** Undefined until all figures are loaded. */
  readonly situation: Situation | undefined
  readonly queue: QueueCounts | undefined
}

export function Verdict({ situation, queue }: VerdictProps): JSX.Element {
  const w = texts()
  return (
    <>
      <div class="say">
        <h2>{situation ? spoken(sentenceOf(situation)) : <span class="faint">{w.loading}</span>}</h2>
        <p>
          {situation && w.messagesInDay({ shown: number(messagesOf(situation.sends)), count: messagesOf(situation.sends) })}{' '}
          {queue && <Waits queue={queue} />} {situation?.findings.length === 0 && <a href={link('/findings')}>{w.noOpenFindings}</a>}
        </p>
        <ProjectState />
      </div>
      {situation && situation.findings.length > 0 && <FindingRows findings={situation.findings} />}
    </>
  )
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
