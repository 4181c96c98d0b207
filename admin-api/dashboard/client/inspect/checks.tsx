/** Checks of a message: result and remedy of each. */
import type { JSX } from 'preact'
import { CheckName, CheckSaid } from '../check-texts/check-said.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import type { InspectTest } from '../wire/api.d.ts'
import { texts } from './inspect-texts.ts'

export type Check = InspectTest['checks'][number]

export const marks = { pass: 'ok', warn: 'warning', fail: 'failed', na: 'none' } as const

export const Checks = ({
  checks,
  isOpen,
}: {
  readonly checks: readonly Check[]
  readonly isOpen: (check: Check) => boolean
}): JSX.Element => (
  <ul class="inspected">
    {checks.map((check) => (
      <li key={check.id}>
        <details id={`check-${check.id}`} open={isOpen(check)}>
          <summary>
            <Mark name={marks[check.status]} />
            <Titled check={check} />
            <span class="faint">
              {texts().statuses[check.status]} {check.max > 0 && `· ${texts().points({ points: check.points, max: check.max })}`}
            </span>
          </summary>
          <div class="found">
            <p>
              <CheckSaid english={check.summary} said={check.summary_said} />
            </p>
            {check.fix !== null && (
              <p class="note wash">
                <span>
                  <b>{texts().fix}:</b> <CheckSaid english={check.fix} said={check.fix_said} />
                </span>
              </p>
            )}
            <Evidence check={check} />
          </div>
        </details>
      </li>
    ))}
  </ul>
)

export const Titled = ({ check: { id, title } }: { readonly check: Pick<Check, 'id' | 'title'> }): JSX.Element => (
  <b>
    <CheckName of="checks" code={id} english={title} />
  </b>
)

/** Evidence and references. Links come only from the checks, never from the message. */
const Evidence = ({ check: { evidence, references } }: { readonly check: Check }): JSX.Element => (
  <>
    {evidence.length > 0 && (
      <dl class="facts">
        {evidence.map(({ label, value, label_said: labelSaid, value_said: valueSaid }) => (
          <div key={label} class="fact-row">
            <dt>{labelSaid ? <CheckSaid english={label} said={labelSaid} /> : <SafeText text={label} />}</dt>
            <dd class="mono">{valueSaid ? <CheckSaid english={value} said={valueSaid} /> : <SafeText text={value} />}</dd>
          </div>
        ))}
      </dl>
    )}
    {references.length > 0 && (
      <p>
        {references.map(({ title, url }) => (
          <a key={url} lang="en" href={url} target="_blank" rel="noopener noreferrer">
            {title}
          </a>
        ))}
      </p>
    )}
  </>
)
