/** Filter form of the log. Submitting it writes the filters to the address. */
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { useKeys } from '../app/keys.ts'
import { go, linkHere } from '../app/location.ts'
import { useTyped } from '../parts/controls.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './audit-texts.ts'
import { filterNames, isFiltered, type Filter, type FilterName } from './filter.ts'

interface FilterFormProps {
  readonly filter: Filter
  /** Names of possible actors by id. If empty, the user types an id. */
  readonly actors: ReadonlyMap<string, string>
}

const none = Object.fromEntries(filterNames.map((name) => [name, ''])) as Record<FilterName, string>

export function FilterForm({ filter, actors }: FilterFormProps): JSX.Element {
  const w = texts()
  const id = useId()
  const [typed, setTyped] = useTyped(filter)
  useKeys({ '/': () => document.getElementById(`${id}-act`)?.focus() }, [])
  const field = (name: FilterName, kind: 'text' | 'date', hint?: string): JSX.Element => (
    <div class="field">
      <label for={`${id}-${name}`}>{w[name]}</label>
      <input
        id={`${id}-${name}`}
        class={name === 'target' || name === 'act' ? 'input mono' : 'input'}
        {...(kind === 'date' ? { type: 'date' as const } : { type: 'text' as const })}
        placeholder={hint}
        value={typed[name]}
        spellcheck={false}
        autocomplete="off"
        onInput={({ currentTarget: { value } }) => setTyped((before) => ({ ...before, [name]: value }))}
      />
    </div>
  )
  return (
    <form
      class="audit-filter"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        go(linkHere({ ...typed, act: typed.act.trim(), actor: typed.actor.trim(), target: typed.target.trim(), entry: '' }))
      }}
    >
      {field('act', 'text', w.actHint)}
      {actors.size === 0 ? (
        field('actor', 'text')
      ) : (
        <div class="field">
          <label for={`${id}-actor`}>{w.actor}</label>
          <select
            id={`${id}-actor`}
            class="input"
            value={typed.actor}
            onChange={({ currentTarget: { value } }) => setTyped((before) => ({ ...before, actor: value }))}
          >
            <option value="">{w.anyone}</option>
            {typed.actor !== '' && !actors.has(typed.actor) && <option value={typed.actor}>{typed.actor}</option>}
            {[...actors].map(([one, name]) => (
              <option key={one} value={one}>
                {name}
              </option>
            ))}
          </select>
        </div>
      )}
      {field('target', 'text', w.targetHint)}
      {field('since', 'date')}
      {field('until', 'date')}
      <div class="actions">
        <button class="button">{w.filter}</button>
        {isFiltered(filter) && (
          <a class="button quiet" href={linkHere({ ...none, entry: '' })}>
            {allTexts().clearAll}
          </a>
        )}
      </div>
    </form>
  )
}
