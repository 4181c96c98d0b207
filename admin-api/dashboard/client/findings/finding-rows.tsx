/** Rows of findings: mark, problem, cause, time, and one button that leads to the cause. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { boot } from '../app/boot.ts'
import { link, path } from '../app/location.ts'
import { Mark } from '../parts/mark.tsx'
import { plain } from '../parts/safe-text.tsx'
import { exactTime, shortTime, span, timeAhead } from '../parts/time.ts'
import type { DoctorReport, Finding } from '../wire/api.d.ts'
import { countOf } from './finding-count.ts'
import { markOf } from './finding-order.ts'
import { placeOf } from './finding-place.ts'
import { textOf } from './finding-text.ts'
import { texts } from './findings-texts.ts'
import { onlyDestination, RouteAll } from './route-all.tsx'

type Problem = DoctorReport['findings'][number]

interface RowProps {
  readonly finding: Finding
  /** Shows the whole cause and its remedy, not the cause in one line. */
  readonly hasFix?: boolean
  /** Link to the project. */
  readonly origin?: ComponentChildren
  /** Content after the button. */
  readonly acts?: ComponentChildren
}

export function FindingRow({ finding, hasFix = false, origin, acts }: RowProps): JSX.Element {
  const { title, summary, fix, why } = textOf(finding)
  return (
    <li>
      <Mark name={markOf(finding)} />
      <div>
        <b>
          <span class="hidden">{texts().severities[finding.severity]}: </span>
          {plain(title)}
        </b>
        {hasFix ? (
          <>
            <p>{plain(summary)}</p>
            <p>{plain(fix)}</p>
          </>
        ) : (
          <p class="cut">{plain(why)}</p>
        )}
        <Tags finding={finding} origin={origin} />
      </div>
      <Times {...finding} />
      <Count {...finding} />
      <span class="look-acts">
        <Next finding={finding} isWhole={hasFix} />
        {acts}
      </span>
    </li>
  )
}

/** Project, time of the acknowledgement, and end of the mute. */
function Tags({ finding: { state, acknowledged, muted_until: until }, origin }: Pick<RowProps, 'finding' | 'origin'>): JSX.Element | null {
  const w = texts()
  const isMuted = state === 'open' && until !== null && Date.parse(until) > Date.now()
  if (!origin && !acknowledged && !isMuted) return null
  return (
    <p class="look-tags">
      {origin}
      {acknowledged && (
        <span class="tag" title={exactTime(acknowledged.at)}>
          {w.acknowledged({ at: shortTime(acknowledged.at, true) })}
        </span>
      )}
      {isMuted && (
        <span class="tag" title={exactTime(until)}>
          {w.mutedUntil({ at: timeAhead(until) })}
        </span>
      )}
    </p>
  )
}

function Times({ opened_at: from, over_at: to }: Finding): JSX.Element {
  const w = texts()
  const lasted = span(Math.max(1000, (to === null ? Date.now() : Date.parse(to)) - Date.parse(from)))
  return (
    <dl>
      <dt>{to === null ? w.since : w.ended}</dt>
      <dd>
        <time datetime={to ?? from} title={exactTime(to ?? from)}>
          {shortTime(to ?? from, true)}
        </time>
        , {lasted}
      </dd>
    </dl>
  )
}

function Count({ kind, params }: Finding): JSX.Element {
  const { label, unit, count } = countOf({ kind, params }) ?? {}
  return (
    <dl>
      {label && unit && count !== undefined && (
        <>
          <dt>{texts().counts[label]}</dt>
          <dd>{texts().units[unit]({ count })}</dd>
        </>
      )}
    </dl>
  )
}

interface NextProps {
  readonly finding: Finding
  readonly isWhole: boolean
}

/** The next step. Whole rows have a button to the cause too. */
function Next({ finding, isWhole }: NextProps): JSX.Element | null {
  const to = onlyDestination(finding)
  if (!to) return <Cause finding={finding} />
  return (
    <>
      <RouteAll to={to} project={plain(String(finding.params['project']))} />
      {isWhole && <Cause finding={finding} />}
    </>
  )
}

/** The button to the cause, unless its page is open. Only the operator can open the operator's screen. */
function Cause({ finding }: { readonly finding: Finding }): JSX.Element | null {
  const place = placeOf(finding)
  if (!place || place.path === path.value || (place.step === 'openOperator' && !boot.isOperator)) return null
  return (
    <a class="button" href={link(place.path, place.query)} aria-label={`${texts().steps[place.step]}: ${plain(textOf(finding).title)}`}>
      {texts().steps[place.step]}
    </a>
  )
}

/** Number of findings that the overview shows at once. */
export const shownAtOnce = 3

interface RowsProps {
  readonly findings: readonly Finding[]
  /** Problems of the service, for its operators. */
  readonly problems?: readonly Problem[]
}

/** The first findings; the others open in place. */
export function FindingRows({ findings: all, problems = [] }: RowsProps): JSX.Element {
  const w = texts()
  const [isOpen, setOpen] = useState(false)
  const hidden = all.slice(shownAtOnce)
  const [next] = hidden
  return (
    <section aria-label={w.findings}>
      <ul class="look">
        {(isOpen ? all : all.slice(0, shownAtOnce)).map((finding) => (
          <FindingRow key={finding.id} finding={finding} />
        ))}
        {problems.length > 0 && <ProblemRow problems={problems} />}
      </ul>
      {all.length > 0 && (
        <p class="look-more">
          {next && !isOpen && (
            <span>
              {w.countMore({ count: hidden.length })}{' '}
              <button class="text-button" onClick={() => setOpen(true)}>
                {plain(hidden.length === 1 ? textOf(next).title : w.firstAndMore({ title: textOf(next).title }))}
              </button>
            </span>
          )}
          <a href={link('/findings')}>{w.allFindings}</a>
        </p>
      )}
    </section>
  )
}

/** One row for all problems of the service. */
function ProblemRow({ problems }: { readonly problems: readonly Problem[] }): JSX.Element {
  const w = texts()
  return (
    <li>
      <Mark name="warning" />
      <div>
        <b>{w.serviceProblems({ count: problems.length })}</b>
        <p class="cut">{plain(problems[0] ? textOf({ kind: problems[0].id, ...problems[0] }).summary : '')}</p>
      </div>
      <dl />
      <dl />
      <span class="look-acts">
        <a class="button" href={link('/operator')}>
          {w.steps.openOperator}
        </a>
      </span>
    </li>
  )
}
