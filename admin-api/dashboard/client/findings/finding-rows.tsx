/** Rows of findings: mark, problem, cause, time, and one button that leads to the cause. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { boot } from '../app/boot.ts'
import { link, path } from '../app/location.ts'
import { Mark } from '../parts/mark.tsx'
import { plain } from '../parts/safe-text.tsx'
import { exactTime, shortTime, span } from '../parts/time.ts'
import type { Finding } from '../wire/types.ts'
import { markOf } from './finding-order.ts'
import { placeOf } from './finding-place.ts'
import { textOf } from './finding-text.ts'
import { texts } from './findings-texts.ts'

interface RowProps {
  readonly finding: Finding
  /** Further lines below the cause. */
  readonly more?: ComponentChildren
  /** Content after the button. */
  readonly acts?: ComponentChildren
}

export function FindingRow({ finding, more, acts }: RowProps): JSX.Element {
  const { title, summary } = textOf(finding)
  return (
    <li>
      <Mark name={markOf(finding)} />
      <div>
        <b>
          <span class="hidden">{texts().severities[finding.severity]}: </span>
          {title}
        </b>
        <p>{plain(summary)}</p>
        {more}
      </div>
      <Times {...finding} />
      <span class="look-acts">
        <Next finding={finding} />
        {acts}
      </span>
    </li>
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

/** The button to the cause, unless its page is open. Only the operator can open the operator's screen. */
function Next({ finding }: { readonly finding: Finding }): JSX.Element | null {
  const place = placeOf(finding)
  if (!place || place.path === path.value || (place.step === 'openOperator' && !boot.isOperator)) return null
  return (
    <a class="button" href={link(place.path, place.query)} aria-label={`${texts().steps[place.step]}: ${textOf(finding).title}`}>
      {texts().steps[place.step]}
    </a>
  )
}

const shownAtOnce = 3

/** The first findings; the others open in place. */
export default function FindingRows({ findings: all }: { readonly findings: readonly Finding[] }): JSX.Element {
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
      </ul>
      <p class="look-more">
        {next && !isOpen && (
          <span>
            {w.countMore({ count: hidden.length })}{' '}
            <button class="text-button" onClick={() => setOpen(true)}>
              {hidden.length === 1 ? textOf(next).title : w.firstAndMore({ title: textOf(next).title })}
            </button>
          </span>
        )}
        <a href={link('/findings')}>{w.allFindings}</a>
      </p>
    </section>
  )
}
