/** Search field and filters of a described resource, stored in the address. */
import type { JSX } from 'preact'
import { go, linkHere, query } from '../app/location.ts'
import { Pills, useTyped } from '../parts/controls.tsx'
import { SearchBox } from '../parts/list.tsx'
import { texts } from '../texts/texts.ts'
import type { Described } from './description.ts'

type Filter = Readonly<Record<string, string>>

/** Returns the filters of the address. Ignores unknown values. */
export function filterOf({ search, filters = [] }: Described): Filter {
  const text = query.value.get('q') ?? ''
  const given = filters.flatMap((filter): [string, string][] => {
    const value = query.value.get(filter.name) ?? ''
    return value !== '' && (!('values' in filter) || filter.values.some((one) => one === value)) ? [[filter.name, value]] : []
  })
  return { ...Object.fromEntries(given), ...(search && text !== '' && { q: text }) }
}

export function Filters({ of: { search, filters = [] }, filter }: { readonly of: Described; readonly filter: Filter }): JSX.Element | null {
  if (!search) return null
  return (
    <SearchBox id="find" label={search()} text={filter['q'] ?? ''}>
      {filters.map((one) =>
        'values' in one ? (
          <Pills
            key={one.name}
            label={one.label()}
            value={filter[one.name] ?? ''}
            onChoose={(value) => go(linkHere({ [one.name]: value }))}
            pills={[{ value: '', label: texts().all }, ...one.values.map((value) => ({ value, label: value }))]}
          />
        ) : (
          <FilterField key={one.name} name={one.name} label={one.label()} hint={one.hint()} value={filter[one.name] ?? ''} />
        ),
      )}
    </SearchBox>
  )
}

interface FieldProps {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly value: string
}

function FilterField({ name, label, hint, value }: FieldProps): JSX.Element {
  const [typed, setTyped] = useTyped(value)
  return (
    <form
      class="narrowing"
      onSubmit={(event) => {
        event.preventDefault()
        go(linkHere({ [name]: typed.trim() }))
      }}
    >
      <input
        class="input list-filter"
        aria-label={label}
        placeholder={hint}
        value={typed}
        maxLength={320}
        spellcheck={false}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </form>
  )
}
