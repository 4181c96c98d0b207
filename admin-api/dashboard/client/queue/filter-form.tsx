/** Filter form of the queue. Submitting it writes the filters to the address. */
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { useKeys } from '../app/keys.ts'
import { go, linkHere } from '../app/location.ts'
import { plain } from '../parts/safe-text.tsx'
import { useSide } from '../queue-side/queue-side.ts'
import { useTyped } from '../parts/controls.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { ageNames, isFiltered, withoutFilters, type Age, type Chosen, type NamedDestination } from './filter.ts'
import { texts } from './queue-texts.ts'

interface FilterFormProps {
  readonly chosen: Chosen
  readonly destinations: readonly NamedDestination[]
}

export function FilterForm({ chosen, destinations }: FilterFormProps): JSX.Element {
  const w = texts()
  const id = useId()
  const isOperators = useSide().organization !== undefined
  const [typed, setTyped] = useTyped(chosen)
  useKeys({ '/': () => document.getElementById(`${id}-to_domain`)?.focus() }, [])
  const field = (name: 'of_project' | 'to_domain' | 'from' | 'attempts', label: string, hint?: string): JSX.Element => (
    <div class="field">
      <label for={`${id}-${name}`}>{label}</label>
      <input
        id={`${id}-${name}`}
        class="input"
        inputMode={name === 'attempts' ? 'numeric' : 'text'}
        placeholder={hint}
        value={typed[name]}
        spellcheck={false}
        autocomplete="off"
        onInput={({ currentTarget: { value } }) => setTyped((before) => ({ ...before, [name]: value }))}
      />
    </div>
  )
  const choose = (name: 'destination' | 'age', label: string, options: readonly (readonly [string, string])[]): JSX.Element => (
    <div class="field">
      <label for={`${id}-${name}`}>{label}</label>
      <select
        id={`${id}-${name}`}
        class="input"
        value={typed[name]}
        onChange={(event) => go(linkHere({ ...trimmed(typed), [name]: event.currentTarget.value }))}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
  return (
    <form
      class="audit-filter"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        go(linkHere(trimmed(typed)))
      }}
    >
      {isOperators && field('of_project', w.project, 'prj_…')}
      {choose('destination', w.destination, [['', w.every], ...destinationsOf(chosen, destinations)])}
      {field('to_domain', w.toDomain)}
      {field('from', w.from, w.fromHint)}
      {choose(
        'age',
        w.age,
        ageNames.map((age: Age) => [age, w.ages[age]]),
      )}
      {field('attempts', w.attempts)}
      <div class="actions">
        <button class="button">{w.filter}</button>
        {isFiltered(chosen) && (
          <a class="button quiet" href={withoutFilters()}>
            {allTexts().clearAll}
          </a>
        )}
      </div>
    </form>
  )
}

const trimmed = ({ of_project: project, to_domain: domain, from, attempts, ...rest }: Chosen): Chosen => ({
  ...rest,
  ...{ of_project: project.trim(), to_domain: domain.trim(), from: from.trim(), attempts: attempts.trim() },
})

/** Returns destination options. Adds a selected destination with an unknown name. */
function destinationsOf({ destination }: Chosen, known: readonly NamedDestination[]): readonly (readonly [string, string])[] {
  const named = known.map(({ id, name }) => [id, plain(name)] as const)
  return destination === '' || known.some(({ id }) => id === destination) ? named : [...named, [destination, destination]]
}
