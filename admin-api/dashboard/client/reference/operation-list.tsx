/** Operations by tag, with a search. A search opens the groups. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useListKeys } from '../selection/list-keys.ts'
import { go, link, linkHere } from '../app/location.ts'
import { Icon } from '../parts/icon.tsx'
import { State } from '../parts/states.tsx'
import { type Entry, found, type Subject, subjectTitle } from './document.ts'
import { texts } from './reference-texts.ts'

interface ListProps {
  readonly subjects: readonly Subject[]
  readonly chosen: string | undefined
  readonly text: string
}

export const methodClass = (method: string): string => `method ${method.toLowerCase()}`

export function OperationList({ subjects, chosen, text }: ListProps): JSX.Element {
  const w = texts()
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const shown = found(subjects, text)
  const entries = shown.flatMap((subject) => subject.entries)
  useListKeys(
    {
      rows: entries,
      isOpen: ({ operationId }) => operationId === chosen,
      onOpen: ({ operationId }) => go(link(`/docs/api/${operationId}`, { q: text })),
      onClose: chosen === undefined ? undefined : () => go(link('/docs/api', { q: text })),
      search: 'operation-search',
    },
    [chosen, text],
  )
  useEffect(() => {
    document.querySelector('.operations [aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  const toggle = (name: string): void => {
    const next = new Set(opened)
    if (!next.delete(name)) next.add(name)
    setOpened(next)
  }
  return (
    <nav class="operations" aria-label={w.subjects}>
      <Search text={text} />
      <div class="operation-list">
        {shown.length === 0 && (
          <State title={w.nothingFound({ text })} text={w.nothingFoundText} drawing={<Icon name="search" />}>
            <div class="actions">
              <a class="button" href={linkHere({ q: '' })}>
                {w.clear}
              </a>
            </div>
          </State>
        )}
        {shown.map((subject) => {
          const { name, entries: own } = subject
          const isOpen = text !== '' || opened.has(name) || own.some(({ operationId }) => operationId === chosen)
          return (
            <div key={name}>
              <button class="subject" lang="en" aria-expanded={isOpen} onClick={() => toggle(name)}>
                <Icon name={isOpen ? 'down' : 'right'} />
                {subjectTitle(name)}
                <span aria-hidden="true">{own.length}</span>
              </button>
              {isOpen && <Entries entries={own} chosen={chosen} text={text} />}
            </div>
          )
        })}
      </div>
    </nav>
  )
}

const Entries = ({ entries, chosen, text }: { readonly entries: readonly Entry[] } & Pick<ListProps, 'chosen' | 'text'>): JSX.Element => (
  <ul>
    {entries.map(({ operationId, method, summary }) => (
      <li key={operationId}>
        <a
          href={link(`/docs/api/${operationId}`, { q: text })}
          aria-current={operationId === chosen ? 'page' : undefined}
          title={summary}
          lang="en"
        >
          <span class="cut">{summary}</span>
          <span class={methodClass(method)}>{method}</span>
        </a>
      </li>
    ))}
  </ul>
)

function Search({ text }: { readonly text: string }): JSX.Element {
  const w = texts()
  return (
    <label class="query-bar">
      <Icon name="search" />
      <span class="hidden">{w.search}</span>
      <input
        id="operation-search"
        type="search"
        placeholder={w.search}
        value={text}
        spellcheck={false}
        onInput={(event) => go(linkHere({ q: event.currentTarget.value }), { replaces: true })}
      />
      <kbd class="wide-only">/</kbd>
    </label>
  )
}
