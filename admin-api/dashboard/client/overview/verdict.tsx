/** Top of the overview: a sentence about outgoing mail, a line about its effect, and the most urgent findings. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiFault } from '../app/api.ts'
import { link } from '../app/location.ts'
import { inOrder } from '../findings/finding-order.ts'
import { useSteady } from '../findings/steady.ts'
import { NewPill } from '../parts/new-pill.tsx'
import { plain } from '../parts/safe-text.tsx'
import { Bone, FaultText, HeadingBone, Loading } from '../parts/states.tsx'
import { number, span } from '../parts/time.ts'
import { withTexts } from '../texts/catalog.ts'
import type { DoctorReport, Finding, QueueCounts } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { ProjectState } from './project-state.tsx'
import { effectOf, messagesOf, sentenceOf, type Effect, type Sentence, type Situation } from './sentence.ts'

type Rows = typeof import('../findings/finding-rows.tsx')
let loadedRows: Rows | undefined

/** Loads the code and the texts of the rows. */
export const loadRows = async (): Promise<void> => {
  loadedRows = await withTexts(import('../findings/finding-rows.tsx'))
}

/** Loads the code of the rows if there are any. */
function useRows(isAsked: boolean): { readonly code: Rows | undefined; readonly isLoading: boolean } {
  const [isFailed, setFailed] = useState(false)
  const [, setTurn] = useState(0)
  useEffect(() => {
    if (!isAsked || loadedRows) return
    loadRows().then(
      () => setTurn((turn) => turn + 1),
      () => setFailed(true), // the shell reports the unreachable service
    )
  }, [isAsked])
  return { code: loadedRows, isLoading: isAsked && !loadedRows && !isFailed }
}

interface VerdictProps {
  /** Undefined until all figures are loaded. */
  readonly situation: Situation | undefined
  /** Open findings. Undefined until they are loaded. */
  readonly findings: readonly Finding[] | undefined
  /** Whether `findings` are all of them, and not the first page. */
  readonly areAll: boolean
  /** Report about the service, for its operators. */
  readonly report: DoctorReport | undefined
  readonly queue: QueueCounts | undefined
  /** Error of a read without which there is no sentence. */
  readonly fault: ApiFault | undefined
  readonly onRetry: () => void
  /** Content at the right of the sentence. */
  readonly end: ComponentChildren
  /** Content below the rows. It appears together with them, so that it does not move. */
  readonly children: ComponentChildren
}

/** Remount it for another project. */
export function Verdict({ situation: latest, findings, areAll, report, queue, fault, onRetry, end, children }: VerdictProps): JSX.Element {
  const w = texts()
  const situation = useLatest(latest)
  const isKnown = situation !== undefined || fault !== undefined
  const { rows, news, place } = usePlaced(isKnown ? findings : undefined, areAll)
  const service = useProblems(isKnown ? report : undefined)
  const count = rows.length + service.placed.length
  const { code, isLoading } = useRows(count > 0)
  const placeAll = (): void => {
    place()
    service.place()
  }
  return (
    <>
      <div class="say">
        <div>
          <h2>{situation ? spoken(sentenceOf(situation)) : fault ? w.stateUnknown : <HeadingBone />}</h2>
          {situation || !fault ? (
            <p>{situation ? <Below situation={situation} queue={queue} /> : <Bone isLong />}</p>
          ) : (
            <p role="alert">
              <FaultText fault={fault} />{' '}
              <button class="as-link" onClick={onRetry}>
                {w.tryAgain}
              </button>
            </p>
          )}
          <ProjectState />
        </div>
        <NewPill added={news.added + service.added} changed={news.changed} onShow={placeAll} />
        {end}
      </div>
      {isKnown && !isLoading ? (
        <>
          {code && count > 0 && <code.FindingRows findings={rows} problems={service.placed} />}
          {children}
        </>
      ) : (
        <Loading rows={16} />
      )}
    </>
  )
}

/** Returns the latest value that was loaded, while further figures are loading. */
function useLatest<T>(value: T | undefined): T | undefined {
  const latest = useRef(value)
  if (value !== undefined) latest.current = value
  return latest.current
}

/** Places rows at the first read and on request. In between, they keep their places. All findings replace the rows of a first page. */
function usePlaced(findings: readonly Finding[] | undefined, areAll: boolean) {
  const [chosen, setChosen] = useState<readonly Finding[]>()
  const now = findings && inOrder(findings)
  const first = useRef({ rows: now, areAll })
  if (!first.current.rows || (areAll && !first.current.areAll)) first.current = { rows: now, areAll }
  const placed = chosen ?? first.current.rows
  const steady = useSteady(placed, areAll ? findings : undefined, ({ id }) => now?.some((one) => one.id === id) === true)
  return { ...steady, place: () => setChosen(now) }
}

/** Errors of the service, placed like findings. */
function useProblems(report: DoctorReport | undefined) {
  const now = report?.findings.filter(({ severity, organization_name: of }) => severity === 'error' && of === null)
  const [chosen, setChosen] = useState<typeof now>()
  const first = useRef(now)
  first.current ??= now
  const placed = chosen ?? first.current ?? []
  const added = placed.length === 0 && now && now.length > 0 ? 1 : 0
  return { placed: placed.length > 0 && now && now.length > 0 ? now : placed, added, place: () => setChosen(now) }
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

function Below({ situation, queue }: { readonly situation: Situation; readonly queue: QueueCounts | undefined }): JSX.Element {
  const w = texts()
  const count = messagesOf(situation.sends)
  const line = lineOf(effectOf(situation, sentenceOf(situation)))
  return (
    <>
      {line ?? (
        <>
          {w.messagesInDay({ shown: number(count), count })} {queue && <Waits queue={queue} />}
        </>
      )}{' '}
      {situation.findings.length === 0 && <a href={link('/findings')}>{w.noOpenFindings}</a>}
    </>
  )
}

/** Returns undefined for the figures. */
function lineOf(effect: Effect): string | undefined {
  const w = texts()
  switch (effect.says) {
    case 'figures':
      return undefined
    case 'sandbox':
      return w.noneLive
    case 'unrouted':
      return w.withoutRule({ count: effect.count })
    case 'waiting':
      return `${w.waitForIt(effect)} ${effect.isRestOnTime ? w.restOnTime : ''}`
  }
}

function Waits({ queue: { count, held, waiting_since: since } }: { readonly queue: QueueCounts }): JSX.Element {
  const w = texts()
  if (count === 0) return <>{w.nothingWaits}</>
  const waited = since === null ? undefined : Date.now() - Date.parse(since)
  return (
    <>
      {waited !== undefined && waited > 0 && <a href={link('/queue')}>{w.oldestWaits({ time: span(Math.max(1000, waited)) })}</a>}{' '}
      {held > 0 && <a href={link('/queue', { held: 'true' })}>{w.ofThemHeld({ held: number(held) })}</a>}
    </>
  )
}
