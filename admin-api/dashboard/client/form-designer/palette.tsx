/** Palette of field types. A click, Enter or dragging adds a field. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import type { FieldActions } from './actions.ts'
import { texts } from './designer-texts.ts'
import { dragging } from './dragging.ts'
import { fieldGroups, groupNames, signs } from '../form-fields/field-kinds.ts'

export function Palette({ actions }: { readonly actions: FieldActions }): JSX.Element {
  const w = texts()
  const [text, setText] = useState('')
  const wanted = text.trim().toLowerCase()
  const shown = groupNames.flatMap((group) => {
    const types = fieldGroups[group].filter((type) => `${w.types[type]} ${type}`.toLowerCase().includes(wanted))
    return types.length === 0 ? [] : [{ group, types }]
  })
  return (
    <div class="palette-of-types">
      <form
        class="query-bar"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          const [first] = shown
          if (wanted !== '' && first?.types[0]) actions.add(first.types[0])
        }}
      >
        <Icon name="search" />
        <input
          aria-label={w.findType}
          placeholder={w.findType}
          value={text}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </form>
      {shown.length === 0 && <p class="faint">{w.noType}</p>}
      {shown.map(({ group, types }) => (
        <section key={group} aria-label={w.groups[group]}>
          <h2>{w.groups[group]}</h2>
          <ul>
            {types.map((type) => (
              <li key={type}>
                <button type="button" {...dragging({ type })} onClick={() => actions.add(type)}>
                  <span class="sign" aria-hidden="true">
                    {signs[type]}
                  </span>
                  {w.types[type]}
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}
