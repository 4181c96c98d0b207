/** Errors and warnings of the draft, each with a link to its position. */
import type { JSX } from 'preact'
import { Mark } from '../parts/mark.tsx'
import { texts } from '../templates/template-texts.ts'
import type { Check, Finding } from './use-check.ts'

export function Findings({ check, onJump }: { readonly check: Check; readonly onJump: (finding: Finding) => void }): JSX.Element {
  const w = texts()
  const { problems, warnings, read } = check
  const counts = [
    problems.length > 0 && w.problems({ count: problems.length }),
    warnings.length > 0 && w.warnings({ count: warnings.length }),
  ].filter(Boolean)
  const word = read.state === 'loading' ? w.checking : counts.length === 0 ? w.fine : counts.join(', ')
  return (
    <section class="findings" aria-label={word}>
      <p role="status">
        <Mark name={problems.length > 0 ? 'failed' : warnings.length > 0 ? 'warning' : read.state === 'loading' ? 'pending' : 'ok'} />
        <b>{word}</b>
      </p>
      {counts.length > 0 && (
        <ul>
          {[...problems, ...warnings].map((finding, i) => (
            <li key={`${finding.path} ${finding.message}`}>
              <button onClick={() => onJump(finding)}>
                <Mark name={i < problems.length ? 'failed' : 'warning'} />
                <span lang="en">
                  {finding.path !== '' && <code>{finding.path}</code>} {finding.message}
                </span>
                {finding.line !== undefined && <span class="faint">{w.line({ n: finding.line })}</span>}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
