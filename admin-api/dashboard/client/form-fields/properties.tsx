/** Properties of the selected field. Changes appear in the preview at once and are saved automatically. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { isReservedKey, type Field } from '#core/forms/definition/definition.ts'
import { mayChange } from '../app/permissions.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { plain } from '../parts/safe-text.tsx'
import type { Editing } from '../forms/use-draft.ts'
import { choose, type FieldActions } from '../form-designer/actions.ts'
import { texts } from '../form-designer/designer-texts.ts'
import { titleOf } from './field-kinds.ts'
import { Tools } from '../form-designer/outline.tsx'
import { placesOf, sections } from './properties-of.ts'
import { Property } from './property.tsx'
import { ShownWhen } from './shown-when.tsx'
import { besideOf, besides, spanOf } from '../form-designer/rows.ts'

interface PropertiesProps {
  readonly formId: string
  readonly editing: Editing
  readonly actions: FieldActions
  readonly chosen: Field | undefined
}

export function Properties({ formId, editing, actions, chosen }: PropertiesProps): JSX.Element {
  const w = texts()
  if (!chosen)
    return (
      <section class="properties" aria-label={w.properties}>
        <div class="nothing-chosen">
          <b>{w.nothingChosen}</b>
          <p class="faint">{w.nothingChosenText}</p>
        </div>
      </section>
    )
  const at = editing.definition.schema.fields.indexOf(chosen)
  const faultOf = (name: string): string | undefined =>
    editing.check.errors.find(({ path }) => path === `schema.fields[${String(at)}].${name}`)?.message
  const places = placesOf(chosen.type)
  return (
    <section class="properties" aria-label={w.properties} tabIndex={mayChange.value ? undefined : 0}>
      <header>
        <button class="button quiet square back" type="button" aria-label={w.backToFields} onClick={() => choose(undefined)}>
          <Icon name="left" />
        </button>
        <h2>{w.types[chosen.type]}</h2>
        {mayChange.value && <Tools field={chosen} actions={actions} />}
      </header>
      <fieldset disabled={!mayChange.value}>
        {sections.map((section) => {
          const names = places[section]
          if (!names || names.length === 0) return null
          return (
            <Part key={section} title={section === 'basics' ? undefined : w.sections[section]}>
              {names.map((name) => (
                <Property
                  key={name}
                  field={chosen}
                  name={name}
                  fault={faultOf(name)}
                  faults={editing.check.errors}
                  at={at}
                  actions={actions}
                />
              ))}
            </Part>
          )
        })}
        <ShownWhen formId={formId} editing={editing} field={chosen} />
        {chosen.type !== 'page_break' && <Place schema={editing.definition.schema} field={chosen} actions={actions} />}
        <Part>
          <KeyField editing={editing} field={chosen} actions={actions} />
        </Part>
      </fieldset>
    </section>
  )
}

const Part = ({ title, children }: { readonly title?: string | undefined; readonly children: ComponentChildren }): JSX.Element => (
  <div class="property-part">
    {title !== undefined && <h3>{title}</h3>}
    {children}
  </div>
)

const widths = [
  ['full', 12],
  ['twoThirds', 8],
  ['half', 6],
  ['third', 4],
] as const

interface PlaceProps {
  readonly schema: Editing['definition']['schema']
  readonly field: Field
  readonly actions: FieldActions
}

/** Width of the field, and the row that it shares. */
function Place({ schema, field: { key }, actions }: PlaceProps): JSX.Element {
  const w = texts()
  const span = spanOf(schema, key)
  const { count, at } = besideOf(schema, key)
  const others = besides(schema, key)
  const nameOf = (other: string): string =>
    plain(titleOf(schema.fields.find((field) => field.key === other) ?? { key: other, type: 'text' }))
  return (
    <Part title={w.widthInRow}>
      <div class="width-choices" role="group" aria-label={w.widthInRow}>
        {widths.map(([name, columns]) => (
          <button key={name} type="button" aria-pressed={span === columns} onClick={() => actions.size(key, columns)}>
            <svg viewBox="0 0 48 4" aria-hidden="true">
              <rect class="back" width={48} height={4} rx={2} />
              <rect width={columns * 4} height={4} rx={2} />
            </svg>
            {w.widths[name]}
          </button>
        ))}
      </div>
      {count > 1 && (
        <div class="actions">
          <button type="button" class="button small" aria-disabled={at === 0} onClick={() => actions.shift(key, -1)}>
            {w.moveLeft}
          </button>
          <button type="button" class="button small" aria-disabled={at === count - 1} onClick={() => actions.shift(key, 1)}>
            {w.moveRight}
          </button>
          <button type="button" class="button small" onClick={() => actions.move(key, 1)}>
            {w.ownRow}
          </button>
        </div>
      )}
      {others.length > 0 && (
        <ChooseField
          label={w.moveToRow}
          value=""
          onChange={(other) => other !== '' && actions.join(key, other)}
          options={[['', '…'], ...others.map((other) => [other, nameOf(other)] as const)]}
        />
      )}
    </Part>
  )
}

/** Text field for the key. Renames the field on blur, because every keystroke would otherwise be a new key. */
function KeyField({
  editing,
  field: { key },
  actions,
}: {
  readonly editing: Editing
  readonly field: Field
  readonly actions: FieldActions
}): JSX.Element {
  const w = texts()
  const [typed, setTyped] = useState(key)
  const isTaken = typed !== key && editing.definition.schema.fields.some((field) => field.key === typed)
  const isWrong = !/^[a-z][a-z0-9_]{0,63}$/.test(typed) || isReservedKey(typed)
  const take = (): void => {
    if (typed !== key && !isTaken && !isWrong) actions.rename(key, typed)
  }
  return (
    <div onFocusOut={take}>
      <TextField
        label={w.key}
        value={typed}
        onChange={setTyped}
        isMono
        hint={w.keyHint}
        fault={isTaken ? w.keyTaken : isWrong ? w.keyWrong : undefined}
      />
    </div>
  )
}
