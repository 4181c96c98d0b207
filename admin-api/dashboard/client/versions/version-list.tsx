/** List of versions, newest first. A selected version is compared with another next to the list. */
import type { JSX } from 'preact'
import { go } from '../app/location.ts'
import type { Listing } from '../app/query.ts'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { exactTime, shortTime } from '../parts/time.ts'
import { texts } from '../texts/texts.ts'

export interface VersionEntry {
  readonly key: number
  readonly href: string
  readonly isChosen: boolean
  /** Text in a separate column before the title. */
  readonly sign?: string | undefined
  readonly title: string
  /** Marks the version in use. */
  readonly tag?: string | undefined
  readonly note?: string | undefined
  readonly at?: string | undefined
}

interface VersionListProps<T> {
  readonly label: string
  readonly list: Listing<T>
  readonly failure: string
  readonly entryOf: (row: T) => VersionEntry
  /** The draft, which is not a version yet. */
  readonly draft?: VersionEntry
}

export const VersionList = <T,>({ label, list, failure, entryOf, draft }: VersionListProps<T>): JSX.Element => (
  <Show read={list.read} reload={list.reload} failure={failure}>
    {(rows) => (
      <ol class="version-list" aria-label={label}>
        {[...(draft ? [draft] : []), ...rows.map(entryOf)].map(({ key, ...entry }) => (
          <Entry key={key} {...entry} />
        ))}
        {list.more && (
          <li>
            <button class="button small" aria-disabled={list.isLoadingMore} onClick={list.more}>
              {texts().older}
            </button>
          </li>
        )}
      </ol>
    )}
  </Show>
)

/** Link to a version. It replaces the history entry, so that Back leaves the screen. */
const Entry = ({ href, isChosen, sign, title, tag, note, at }: Omit<VersionEntry, 'key'>): JSX.Element => (
  <li>
    <a
      href={href}
      aria-current={isChosen ? 'true' : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        go(href, { replaces: true })
      }}
    >
      {sign !== undefined && <b>{sign}</b>}
      <span class="cut">
        <SafeText text={title} />
      </span>
      {tag !== undefined && <span class="tag good">{tag}</span>}
      {note !== undefined && <small>{note}</small>}
      {at !== undefined && (
        <small>
          <time datetime={at} title={exactTime(at)}>
            {shortTime(at, true)}
          </time>
        </small>
      )}
    </a>
  </li>
)
