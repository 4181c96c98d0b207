/**
 * Questions and answers as plain text, in the order of the form. Answers without a question, as spam may contain, follow under their keys.
 */
import type { ComponentChildren, JSX } from 'preact'
import { CopyButton } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { dateOnly } from '../parts/time.ts'
import { texts } from '../submissions/submissions-texts.ts'
import type { FormSubmission } from '../wire/api.d.ts'
import { fieldsOf, type Field } from './definition.ts'
import { Files } from './files.tsx'

interface AnswersProps {
  readonly submission: FormSubmission
  /** Undefined if the service did not return it. */
  readonly definition: Readonly<Record<string, unknown>> | undefined
  /** Publication time of the version, for the consent texts. */
  readonly publishedAt: string | undefined
  /** Called when a file download is refused. */
  readonly onRefused: () => void
}

type Answer = FormSubmission['answers'][string]

export function Answers({ submission, definition, publishedAt, onRefused }: AnswersProps): JSX.Element {
  const w = texts()
  const { answers, files, consents } = submission
  const fields = fieldsOf(definition)
  const asked = fields.filter(({ key }) => answers[key] !== undefined || files.some(({ field }) => field === key))
  const others = Object.keys(answers).filter((key) => !fields.some((field) => field.key === key))
  const unplaced = files.filter(({ field }) => !asked.some(({ key }) => key === field))
  return (
    <dl class="answers" aria-label={w.answers}>
      {asked.map((field) => {
        const answer = answers[field.key]
        const own = files.filter((file) => file.field === field.key)
        const consent = consents.find((one) => one.field === field.key)
        return (
          <Pair key={field.key} label={field.label ?? field.key}>
            {own.length > 0 ? (
              <Files files={own} submission={submission} onRefused={onRefused} />
            ) : (
              answer !== undefined && <Said field={field} answer={answer} />
            )}
            {consent && (
              <p class="faint">
                {publishedAt !== undefined && `${w.textOf({ day: dateOnly(publishedAt) })} · `}
                SHA-256 <code title={consent.sha256}>{consent.sha256.slice(0, 12)}</code>
              </p>
            )}
          </Pair>
        )
      })}
      {others.map((key) => {
        const answer = answers[key]
        return (
          <Pair key={key} label={key}>
            {answer !== undefined && <Said field={{ key, type: '' }} answer={answer} />}
          </Pair>
        )
      })}
      {unplaced.length > 0 && (
        <Pair label={w.otherFiles}>
          <Files files={unplaced} submission={submission} onRefused={onRefused} />
        </Pair>
      )}
      {asked.length + others.length + unplaced.length === 0 && <Pair label={w.answers}>{w.noAnswers}</Pair>}
    </dl>
  )
}

const Pair = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }): JSX.Element => (
  <div>
    <dt>
      <SafeText text={label} />
    </dt>
    <dd>{children}</dd>
  </div>
)

/** Returns the first line of an option label. */
function labelOf({ options = [] }: Field, value: string): string {
  const [first = value] = (options.find((option) => option.value === value)?.label ?? value).split('\n')
  return first
}

function Said({ field, answer }: { readonly field: Field; readonly answer: Answer }): JSX.Element {
  const w = texts()
  if (typeof answer === 'boolean')
    return (
      <span>
        <Icon name={answer ? 'check' : 'close'} /> {field.type === 'consent' && answer ? w.given : answer ? w.yes : w.no}
      </span>
    )
  if (typeof answer === 'number') {
    const of = (field.type === 'rating' || field.type === 'scale') && field.max !== undefined ? ` / ${String(field.max)}` : ''
    return <span>{`${String(answer)}${of}`}</span>
  }
  if (typeof answer === 'object')
    return (
      <ul>
        {answer.map((value) => (
          <li key={value}>
            <SafeText text={labelOf(field, value)} />
          </li>
        ))}
      </ul>
    )
  if (field.type === 'date' && !Number.isNaN(Date.parse(answer)))
    return (
      <time datetime={plain(answer)} title={plain(answer)}>
        {dateOnly(`${answer.slice(0, 10)}T00:00`)}
      </time>
    )
  if (field.type === 'email' || field.type === 'phone' || field.type === 'url')
    return (
      <span class="copied">
        <SafeText text={answer} />
        <CopyButton text={answer} label={w.copyAnswer} />
      </span>
    )
  return (
    <p class="prose">
      <SafeText text={field.options ? labelOf(field, answer) : answer} />
    </p>
  )
}
