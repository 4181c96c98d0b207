/** Trial of the logic: shows the fields that a visitor would see for given answers. It uses the code of the public form. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { fieldsIn } from '#core/forms/definition/conditions.ts'
import type { Definition, Field } from '#core/forms/definition/definition.ts'
import { evaluate } from '#core/forms/definition/evaluate.ts'
import { pagesOf } from '#core/forms/definition/layout.ts'
import { titleOf } from '../form-fields/field-kinds.ts'
import type { Editing } from '../forms/use-draft.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { texts } from './logic-texts.ts'

export function TryOut({ editing: { check } }: { readonly editing: Editing }): JSX.Element {
  const w = texts()
  const { definition } = check
  return (
    <section class="try-out" aria-label={w.tryIt}>
      <h2>{w.tryIt}</h2>
      {definition ? <Trial definition={definition} /> : <p class="faint">{w.notYet}</p>}
    </section>
  )
}

function Trial({ definition }: { readonly definition: Definition }): JSX.Element {
  const w = texts()
  const [values, setValues] = useState<Readonly<Record<string, unknown>>>({})
  const { schema, logic } = definition
  const looked = new Set(logic.rules.flatMap(({ when }) => fieldsIn(when)))
  const today = new Date().toISOString().slice(0, 10)
  const { visible, required } = evaluate(definition, { values, today, slackDays: 1 })
  const pages = pagesOf(schema)
  return (
    <>
      <p class="faint">{w.tryText}</p>
      {schema.fields
        .filter(({ key }) => looked.has(key))
        .map((field) => (
          <Answer
            key={field.key}
            field={field}
            value={values[field.key]}
            onChange={(value) => setValues((before) => ({ ...before, [field.key]: value }))}
          />
        ))}
      <ul class="tried">
        {pages.map(({ number, rows }) => (
          <>
            {pages.length > 1 && (
              <li key={`page ${String(number)}`} class="tried-page">
                {w.step({ n: number })}
              </li>
            )}
            {rows.flatMap((row) =>
              row.map(({ field }) => {
                const isShown = visible.has(field.key)
                return (
                  <li key={field.key} class={isShown ? '' : 'hidden-field'}>
                    <Mark name={isShown ? 'ok' : 'canceled'} />
                    <span class="cut">
                      <SafeText text={titleOf(field)} />
                    </span>
                    <span class="faint">{!isShown ? w.hidden : required.has(field.key) ? w.needed : w.shown}</span>
                  </li>
                )
              }),
            )}
          </>
        ))}
      </ul>
    </>
  )
}

interface AnswerProps {
  readonly field: Field
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

function Answer({ field, value, onChange }: AnswerProps): JSX.Element {
  const label = plain(titleOf(field))
  const { type, options } = field
  if (options && type !== 'checkboxes')
    return (
      <ChooseField
        label={label}
        value={typeof value === 'string' ? value : ''}
        onChange={onChange}
        options={[['', '–'], ...options.map((option) => [option.value, plain(option.label.split('\n')[0] ?? '')] as const)]}
      />
    )
  if (options) {
    const chosen = Array.isArray(value) ? (value as readonly string[]) : []
    return (
      <fieldset class="accepts">
        <legend class="label">{label}</legend>
        {options.map((option) => (
          <label key={option.value} class="check">
            <input
              type="checkbox"
              checked={chosen.includes(option.value)}
              onChange={(event) =>
                onChange(event.currentTarget.checked ? [...chosen, option.value] : chosen.filter((one) => one !== option.value))
              }
            />
            <span>{plain(option.label)}</span>
          </label>
        ))}
      </fieldset>
    )
  }
  if (type === 'checkbox' || type === 'consent')
    return (
      <label class="check">
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
        <span>{label}</span>
      </label>
    )
  return <TextField label={label} value={typeof value === 'string' ? value : ''} onChange={onChange} />
}
