/** Form designer: fields on the left, the form in the middle, properties of the selected field on the right. */
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { go, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { Segments } from '../parts/controls.tsx'
import type { PartProps } from '../forms/part-props.ts'
import { actionsOn, chosenIn, type FieldActions } from './actions.ts'
import { Canvas } from './canvas.tsx'
import { texts } from './designer-texts.ts'
import { Outline } from './outline.tsx'
import { Palette } from './palette.tsx'
import { Properties } from '../form-fields/properties.tsx'

export default function Build({ form, editing }: PartProps): JSX.Element {
  const w = texts()
  const { definition } = editing
  const chosen = chosenIn(definition)
  const actions = actionsOn(editing)
  const isEmpty = definition.schema.fields.length === 0
  const isAdding = mayChange.value && (query.value.get('panel') === 'add' || isEmpty)
  useFieldKeys(chosen?.key, actions)
  const isPreviewing = query.value.get('show') === 'preview'
  return (
    <div class={`designer${chosen ? ' choosing' : ''}${isPreviewing ? ' previewing' : ''}`}>
      <div class="designer-views">
        <Segments
          label={w.fieldsOrPreview}
          value={isPreviewing ? 'preview' : 'fields'}
          onChoose={(next) => go(linkHere({ show: next === 'preview' ? next : '', field: '' }), { replaces: true })}
          choices={[
            { value: 'fields', label: w.edit, icon: 'forms' },
            { value: 'preview', label: w.preview, icon: 'phone' },
          ]}
        />
      </div>
      <section class="field-panel" aria-label={w.fields}>
        {mayChange.value && (
          <Segments
            label={w.fieldsAndNew}
            value={isAdding ? 'add' : 'fields'}
            onChoose={(next) => go(linkHere({ panel: next === 'add' ? 'add' : '' }), { replaces: true })}
            choices={[
              { value: 'fields', label: w.fields, icon: 'traces' },
              { value: 'add', label: w.addTo, icon: 'plus' },
            ]}
          />
        )}
        {isAdding ? <Palette actions={actions} /> : <Outline editing={editing} actions={actions} chosen={chosen} />}
      </section>
      <Canvas form={form} editing={editing} actions={actions} chosen={chosen} />
      <Properties key={chosen?.key ?? ''} formId={form.id} editing={editing} actions={actions} chosen={chosen} />
    </div>
  )
}

/** Alt+Arrow moves the selected field, Ctrl+D or Cmd+D duplicates it. */
function useFieldKeys(key: string | undefined, actions: FieldActions): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (key === undefined || document.querySelector('dialog[open]')) return
      const isCommand = event.metaKey || event.ctrlKey
      const run =
        event.altKey && event.key === 'ArrowUp'
          ? () => actions.move(key, -1)
          : event.altKey && event.key === 'ArrowDown'
            ? () => actions.move(key, 1)
            : isCommand && event.key === 'd'
              ? () => actions.duplicate(key)
              : undefined
      if (!run) return
      event.preventDefault()
      run()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
}
