/** A property of a field with the matching control. */
import type { JSX } from 'preact'
import { definitionLimits, type Field } from '#core/forms/definition/definition.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import type { FieldActions } from '../form-designer/actions.ts'
import { texts } from '../form-designer/designer-texts.ts'
import { Options } from './options.tsx'
import { acceptable, autocompletes, editorOf, mustStay, type PropertyName } from './properties-of.ts'

interface PropertyProps {
  readonly field: Field
  readonly name: PropertyName
  readonly fault: string | undefined
  /** All errors of the form, and the path of this field in the definition. */
  readonly faults: readonly { readonly path: string; readonly message: string }[]
  readonly at: number
  readonly actions: FieldActions
}

export function Property(props: PropertyProps): JSX.Element {
  const w = texts()
  const { field, name, fault, actions } = props
  const label = w.property[name]
  const hint = Object.hasOwn(w.hints, name) ? w.hints[name as keyof typeof w.hints] : undefined
  const value = field[name]
  const set = (next: unknown): void => actions.set(field.key, { [name]: next })
  const line = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  const setText = (next: string): void => set(next === '' && !mustStay.has(name) ? undefined : next)
  switch (editorOf(field.type, name)) {
    case 'yes':
      return <Yes label={label} hint={hint} isOn={value === true} onChange={(isOn) => set(isOn ? true : undefined)} />
    case 'number':
      return (
        <TextField
          {...{ label, hint, fault }}
          type="number"
          value={line}
          onChange={(next) => set(next === '' || Number.isNaN(Number(next)) ? undefined : Number(next))}
        />
      )
    case 'long':
      return <TextField {...{ label, hint, fault }} isLong value={line} onChange={setText} />
    case 'list':
      return (
        <TextField
          {...{ label, hint, fault }}
          isLong
          value={Array.isArray(value) ? value.join('\n') : ''}
          onChange={(next) => set(next.trim() === '' ? undefined : next.split('\n').map((one) => one.trim()))}
        />
      )
    case 'choice':
      return (
        <Choice
          {...{ label, fault, name, line }}
          onChange={(next) => set(next === '' ? undefined : name === 'level' ? Number(next) : next)}
        />
      )
    case 'options':
      return <Options {...props} />
    case 'accept':
      return <Accept label={label} chosen={field.accept ?? acceptable} onChange={set} />
    case 'size':
      return (
        <TextField
          {...{ label, fault }}
          type="number"
          value={field.max_bytes === undefined ? '' : String(Math.round((field.max_bytes / mebibyte) * 10) / 10)}
          onChange={(next) => set(next === '' ? undefined : Math.min(definitionLimits.fileBytes, Math.round(Number(next) * mebibyte)))}
        />
      )
    case 'line':
      return <TextField {...{ label, hint, fault }} value={line} onChange={setText} />
  }
}

const mebibyte = 1_048_576

interface YesProps {
  readonly label: string
  readonly hint?: string | undefined
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}

const Yes = ({ label, hint, isOn, onChange }: YesProps): JSX.Element => (
  <label class="check">
    <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
    <span>
      {label}
      {hint !== undefined && <small>{hint}</small>}
    </span>
  </label>
)

interface ChoiceProps {
  readonly label: string
  readonly fault: string | undefined
  readonly name: PropertyName
  readonly line: string
  readonly onChange: (value: string) => void
}

function Choice({ label, fault, name, line, onChange }: ChoiceProps): JSX.Element {
  const { choice } = texts()
  const known: readonly (readonly [string, string])[] =
    name === 'autocomplete'
      ? [...new Set([...autocompletes, ...(line === '' ? [] : [line])])].map((one) => [one, one])
      : Object.entries(choice[name as 'style' | 'source' | 'preset' | 'level'])
  const isRequired = name === 'level' || name === 'source'
  return <ChooseField {...{ label, fault }} value={line} onChange={onChange} options={isRequired ? known : [['', choice.none], ...known]} />
}

interface AcceptProps {
  readonly label: string
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

/** File types. At least one stays selected. */
const Accept = ({ label, chosen, onChange }: AcceptProps): JSX.Element => (
  <fieldset class="accepts">
    <legend class="label">{label}</legend>
    {acceptable.map((one) => (
      <label key={one} class="check">
        <input
          type="checkbox"
          checked={chosen.includes(one)}
          onChange={(event) => {
            const next = acceptable.filter((each) => (each === one ? event.currentTarget.checked : chosen.includes(each)))
            if (next.length > 0) onChange(next)
            else event.currentTarget.checked = true
          }}
        />
        <span>{one.toUpperCase()}</span>
      </label>
    ))}
  </fieldset>
)
