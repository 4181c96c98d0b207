/** One field for all filters: terms such as `to:ada@example.org` become chips, the rest is looked for in subjects and addresses. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { bind } from '../app/keys.ts'
import { go, linkHere } from '../app/location.ts'
import { Icon } from '../parts/icon.tsx'
import type { Destination } from '../wire/operations.ts'
import { words } from '../words/words.ts'

/** As `GET /v1/traces` has them. */
export const filterNames = ['q', 'status', 'outcome', 'to', 'from', 'destination_id', 'bounce', 'since', 'until'] as const
type FilterName = (typeof filterNames)[number]
export type Filters = Readonly<Partial<Record<FilterName, string>>>

export const filtersOf = (search: URLSearchParams): Filters =>
  Object.fromEntries(filterNames.flatMap((name) => (search.get(name) ? [[name, search.get(name) ?? '']] : [])))

/** What people write for a filter. */
const synonyms: Readonly<Record<string, FilterName>> = {
  dest: 'destination_id',
  destination: 'destination_id',
  after: 'since',
  before: 'until',
  subject: 'q',
}

const nameOf = (key: string): FilterName | undefined => filterNames.find((name) => name === key) ?? synonyms[key]

interface Parsed {
  readonly filters: Filters
  readonly unknown: readonly string[]
}

/** Terms and free text; a time of day is one of today, a destination may be given by its name. */
function parse(text: string, destinations: readonly Destination[]): Parsed {
  const filters: Partial<Record<FilterName, string>> = {}
  const unknown: string[] = []
  const free: string[] = []
  for (const term of text.match(/\S+:"[^"]*"|\S+/g) ?? []) {
    const [, key = '', value = ''] = /^([a-z_]+):"?([^"]+)"?$/i.exec(term) ?? []
    const name = nameOf(key.toLowerCase())
    if (key === '' || /^https?$/i.test(key)) free.push(term)
    else if (name) filters[name] = valueOf(name, value, destinations)
    else unknown.push(key)
  }
  if (free.length > 0) filters.q = free.join(' ')
  return { filters, unknown }
}

function valueOf(name: FilterName, value: string, destinations: readonly Destination[]): string {
  if (name === 'destination_id') return destinations.find((one) => one.name.toLowerCase() === value.toLowerCase())?.id ?? value
  if (name !== 'since' && name !== 'until') return value
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(value) ?? []
  const date = hours === undefined ? new Date(value) : new Date(new Date().setHours(Number(hours), Number(minutes), 0, 0))
  return Number.isNaN(date.getTime()) ? value : date.toISOString()
}

export function QueryBar({
  filters,
  destinations,
}: {
  readonly filters: Filters
  readonly destinations: readonly Destination[]
}): JSX.Element {
  const w = words()
  const [text, setText] = useState('')
  const [unknown, setUnknown] = useState<readonly string[]>([])
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => bind({ '/': () => input.current?.focus() }), [])
  const apply = (): void => {
    const parsed = parse(text, destinations)
    setUnknown(parsed.unknown)
    setText('')
    if (Object.keys(parsed.filters).length > 0) go(linkHere({ ...parsed.filters, trace: '' }))
  }
  const chips = Object.entries(filters).filter(([name]) => name !== 'status')
  return (
    <form
      class="query-bar"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <Icon name="search" />
      {chips.map(([name, value]) => (
        <span class="chip" key={name}>
          <span class="soft">{name}:</span>
          <b class="cut">{name === 'destination_id' ? (destinations.find(({ id }) => id === value)?.name ?? value) : value}</b>
          <a href={linkHere({ [name]: '' })} aria-label={w.removeFilter(name)}>
            <Icon name="close" />
          </a>
        </span>
      ))}
      {unknown.map((key) => (
        <span class="chip unknown" key={key}>
          {w.unknownFilter(key)}
        </span>
      ))}
      <input
        ref={input}
        aria-label={w.filterTraces}
        placeholder="to: from: outcome: dest: bounce: since: until:"
        value={text}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <kbd class="wide-only">/</kbd>
    </form>
  )
}
