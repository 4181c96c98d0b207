/** Search field for all filters. Terms such as `to:ada@example.org` become chips; other text searches subjects and addresses. */
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { useKeys } from '../app/keys.ts'
import { go, linkHere } from '../app/location.ts'
import { Icon } from '../parts/icon.tsx'
import type { Destination } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { listOf, parse, type Filters } from './filters.ts'

interface Chip {
  readonly name: string
  readonly value: string
  /** URL without this filter. */
  readonly without: string
}

const chipsOf = (filters: Filters): Chip[] =>
  Object.entries(filters).flatMap(([name, value]): Chip[] => {
    if (name === 'status') return []
    if (name !== 'has') return [{ name, value, without: linkHere({ [name]: '' }) }]
    const all = listOf(value)
    return all.map((one) => ({ name, value: one, without: linkHere({ has: all.filter((other) => other !== one).join(',') }) }))
  })

export function QueryBar({
  filters,
  destinations,
}: {
  readonly filters: Filters
  readonly destinations: readonly Destination[]
}): JSX.Element {
  const w = texts()
  const [text, setText] = useState('')
  const [unknown, setUnknown] = useState<readonly string[]>([])
  const input = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => input.current?.focus() }, [])
  const apply = (): void => {
    const parsed = parse(text, filters, destinations)
    setUnknown(parsed.unknown)
    setText('')
    if (Object.keys(parsed.filters).length > 0) go(linkHere({ ...parsed.filters, trace: '' }))
  }
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
      {chipsOf(filters).map(({ name, value, without }) => (
        <span class="chip" key={`${name} ${value}`}>
          <span class="soft">{name}:</span>
          <b class="cut">{name === 'destination_id' ? (destinations.find(({ id }) => id === value)?.name ?? value) : value}</b>
          <a href={without} aria-label={w.removeFilter({ name })}>
            <Icon name="close" />
          </a>
        </span>
      ))}
      {unknown.map((key) => (
        <span class="chip unknown" key={key}>
          {w.unknownFilter({ name: key })}
        </span>
      ))}
      <input
        ref={input}
        aria-label={w.filterTraces}
        placeholder="to: from: outcome: dest: template: tag: has: bounce: since: until:"
        value={text}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <kbd class="wide-only">/</kbd>
    </form>
  )
}
