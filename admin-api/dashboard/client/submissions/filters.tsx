/** Filters of the list: status, form, tags and assignee. Each is a link, so that every state has a URL. */
import type { JSX } from 'preact'
import { boot } from '../app/boot.ts'
import { query } from '../app/location.ts'
import { Newest, type MaybeCut } from '../selection/newest.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { longTime, number } from '../parts/time.ts'
import type { FormSubmission, ListedForm, Member } from '../wire/api.d.ts'
import { countsOf, listLink, statuses, wantedStatus } from './filter.ts'
import { texts } from './submissions-texts.ts'

/** Returns the time range of the list as text. */
function timeOf(from: string | null, to: string | null): string | undefined {
  const [begin = '…', end = '…'] = [from, to].map((at) => (Number.isNaN(Date.parse(at ?? '')) ? undefined : longTime(at ?? '')))
  return (from ?? '') === '' && (to ?? '') === '' ? undefined : texts().between({ from: begin, to: end })
}

interface FiltersProps {
  readonly forms: readonly ListedForm[]
  readonly all: MaybeCut
  readonly formId: string | undefined
  readonly rows: readonly FormSubmission[]
  readonly members: readonly Member[]
  /** Whether the filters are open on narrow screens. */
  readonly isShown: boolean
}

const icons = {
  ...{ open: 'submissions', new: 'new', read: 'check', replied: 'reply', archived: 'archive', spam: 'suppressions', all: 'menu' },
} as const satisfies Readonly<Record<(typeof statuses)[number], IconName>>

const maxTags = 20

// the service counts forms and statuses; counts of tags and assignees cover the loaded rows

export function Filters({ forms, all, formId, rows, members, isShown }: FiltersProps): JSX.Element {
  const w = texts()
  const tag = query.value.get('tag') ?? ''
  const tags = [...new Set([...(tag === '' ? [] : [tag]), ...rows.flatMap((row) => row.tags)])].slice(0, maxTags)
  const counted = forms.filter(({ id }) => formId === undefined || id === formId)
  const counts = countsOf(counted)
  const version = formId === undefined ? '' : (query.value.get('version') ?? '')
  const time = timeOf(query.value.get('from'), query.value.get('to'))
  return (
    <nav class={isShown ? 'sub-filters shown' : 'sub-filters'} id="sub-filters" aria-label={w.filters}>
      <h2>{w.status}</h2>
      <ul>
        {statuses.map((status) => (
          <Entry
            key={status}
            to={listLink(formId, { status: status === 'open' ? '' : status })}
            isCurrent={status === wantedStatus()}
            icon={icons[status]}
            label={w.statuses[status]}
            count={counts[status]}
          />
        ))}
      </ul>
      <h2>{w.forms}</h2>
      <ul>
        <Entry to={listLink(undefined)} isCurrent={formId === undefined} icon="menu" label={w.allForms} />
        {forms.map(({ id, name, submissions_new: count }) => (
          <Entry key={id} to={listLink(id, { version: '' })} isCurrent={id === formId} icon="forms" label={name} count={count} isTyped />
        ))}
        {time && <Entry to={listLink(formId, { from: '', to: '' })} isCurrent icon="close" label={time} />}
        {version !== '' && (
          <Entry to={listLink(formId, { version: '' })} isCurrent icon="close" label={w.version({ version: Number(version) })} />
        )}
      </ul>
      <Newest of={all} />
      {tags.length > 0 && (
        <>
          <h2>{w.tags}</h2>
          <ul>
            {tags.map((one) => (
              <Entry
                key={one}
                to={listLink(formId, { tag: one === tag ? '' : one })}
                isCurrent={one === tag}
                icon="tag"
                label={one}
                count={rows.filter((row) => row.tags.includes(one)).length}
                isTyped
              />
            ))}
          </ul>
        </>
      )}
      <Answerers formId={formId} rows={rows} members={members} />
    </nav>
  )
}

function Answerers({ formId, rows, members }: Pick<FiltersProps, 'formId' | 'rows' | 'members'>): JSX.Element {
  const w = texts()
  const assignee = query.value.get('assignee') ?? ''
  const me = members.find(({ email }) => email === boot.email)
  const countOf = (id: string): number => rows.filter((row) => row.assignee === id).length
  const others = members.filter(({ user_id: id }) => id !== me?.user_id && rows.some((row) => row.assignee === id))
  return (
    <>
      <h2>{w.assigned}</h2>
      <ul>
        {me && (
          <Entry
            to={listLink(formId, { assignee: assignee === me.user_id ? '' : me.user_id })}
            isCurrent={assignee === me.user_id}
            icon="account"
            label={w.toMe}
            count={countOf(me.user_id)}
          />
        )}
        {others.map(({ user_id: id, name, email }) => (
          <Entry
            key={id}
            to={listLink(formId, { assignee: assignee === id ? '' : id })}
            isCurrent={assignee === id}
            icon="account"
            label={name || email}
            count={countOf(id)}
            isTyped
          />
        ))}
        <Entry
          to={listLink(formId, { assignee: assignee === 'none' ? '' : 'none' })}
          isCurrent={assignee === 'none'}
          icon="account"
          label={w.unassigned}
        />
      </ul>
    </>
  )
}

interface EntryProps {
  readonly to: string
  readonly isCurrent: boolean
  readonly icon: IconName
  readonly label: string
  readonly count?: number
  /** Whether the label is text of a user. */
  readonly isTyped?: boolean
}

const Entry = ({ to, isCurrent, icon, label, count = 0, isTyped = false }: EntryProps): JSX.Element => (
  <li>
    <a href={to} aria-current={isCurrent ? 'true' : undefined}>
      <Icon name={icon} />
      <span class="cut">{isTyped ? <SafeText text={label} /> : label}</span>
      {count > 0 && <span class="count">{number(count)}</span>}
    </a>
  </li>
)
