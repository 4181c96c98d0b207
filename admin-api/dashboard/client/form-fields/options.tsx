/** Options of a choice field: labels and values with move buttons, or a text area with one option per line. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { definitionLimits, type Field, type Option } from '#core/forms/definition/definition.ts'
import { Icon } from '../parts/icon.tsx'
import type { FieldActions } from '../form-designer/actions.ts'
import { texts } from '../form-designer/designer-texts.ts'
import { freeKey } from './field-kinds.ts'

interface OptionsProps {
  readonly field: Field
  readonly at: number
  readonly faults: readonly { readonly path: string; readonly message: string }[]
  readonly actions: FieldActions
}

/** Returns a unique option value derived from the label. */
const valueFor = (label: string, options: readonly Option[]): string =>
  freeKey(
    label,
    options.map(({ value }) => ({ key: value, type: 'text' })),
  )

export function Options({ field, at, faults, actions }: OptionsProps): JSX.Element {
  const w = texts()
  const { options = [], type } = field
  const [lines, setLines] = useState<string>()
  const most = type === 'select' ? definitionLimits.selectOptions : definitionLimits.options
  const put = (next: readonly Option[]): void => actions.set(field.key, { options: next })
  const faultOf = (i: number): string | undefined =>
    faults.find(({ path }) => path.startsWith(`schema.fields[${String(at)}].options[${String(i)}]`))?.message
  if (lines !== undefined)
    return (
      <div class="field">
        <label for="option-lines">{w.optionsAsLines}</label>
        <textarea id="option-lines" class="input" rows={8} value={lines} onInput={(event) => setLines(event.currentTarget.value)} />
        <div class="actions">
          <button
            type="button"
            class="button small"
            onClick={() => {
              put(fromLines(lines, options).slice(0, most))
              setLines(undefined)
            }}
          >
            {w.takeLines}
          </button>
        </div>
      </div>
    )
  return (
    <div class="options">
      <ol>
        {options.map((option, i) => (
          <li key={i}>
            <OptionRow
              option={option}
              n={i + 1}
              fault={faultOf(i)}
              onChange={(next) => put(options.with(i, next))}
              onMove={(by) => put(options.toSpliced(i, 1).toSpliced(i + by, 0, option))}
              onRemove={() => put(options.toSpliced(i, 1))}
            />
          </li>
        ))}
      </ol>
      <div class="actions">
        <button
          type="button"
          class="button small"
          aria-disabled={options.length >= most}
          onClick={() => {
            const label = w.option({ n: options.length + 1 })
            if (options.length < most) put([...options, { value: valueFor(`option_${String(options.length + 1)}`, options), label }])
          }}
        >
          <Icon name="plus" />
          {w.addOption}
        </button>
        <button type="button" class="button quiet small" onClick={() => setLines(options.map(({ label }) => label).join('\n'))}>
          {w.pasteOptions}
        </button>
      </div>
    </div>
  )
}

/** Parses one option per line. Existing labels keep their values. */
function fromLines(lines: string, before: readonly Option[]): readonly Option[] {
  const made: Option[] = []
  for (const label of lines.split('\n').map((line) => line.trim())) {
    if (label === '' || made.some((one) => one.label === label)) continue
    made.push(before.find((one) => one.label === label) ?? { label, value: valueFor(label, [...before, ...made]) })
  }
  return made
}

interface RowProps {
  readonly option: Option
  readonly n: number
  readonly fault: string | undefined
  readonly onChange: (option: Option) => void
  readonly onMove: (by: -1 | 1) => void
  readonly onRemove: () => void
}

function OptionRow({ option, n, fault, onChange, onMove, onRemove }: RowProps): JSX.Element {
  const w = texts()
  const name = option.label || w.option({ n })
  return (
    <>
      <input
        class="input"
        aria-label={w.optionLabel({ n })}
        aria-invalid={fault !== undefined}
        value={option.label}
        onInput={(event) => onChange({ ...option, label: event.currentTarget.value })}
      />
      <input
        class="input mono"
        aria-label={w.optionValue({ n })}
        value={option.value}
        spellcheck={false}
        onInput={(event) => onChange({ ...option, value: event.currentTarget.value })}
      />
      <div class="field-tools">
        <button type="button" class="button quiet square small" aria-label={w.optionUp({ name })} onClick={() => n > 1 && onMove(-1)}>
          <Icon name="up" />
        </button>
        <button type="button" class="button quiet square small" aria-label={w.optionDown({ name })} onClick={() => onMove(1)}>
          <Icon name="down" />
        </button>
        <button type="button" class="button quiet square small" aria-label={w.optionRemove({ name })} onClick={onRemove}>
          <Icon name="close" />
        </button>
      </div>
      {fault !== undefined && <small class="wrong">{fault}</small>}
    </>
  )
}
