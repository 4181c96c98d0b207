/** List of submissions: search, new entries, selection and bulk actions. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { keyFor } from '../app/keys.ts'
import { useListKeys } from '../selection/list-keys.ts'
import { go, linkHere, query } from '../app/location.ts'
import { useNews } from '../app/new-entries.ts'
import { mayChange } from '../app/permissions.ts'
import type { Listing } from '../app/query.ts'
import { Icon } from '../parts/icon.tsx'
import { Older } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { NewPill } from '../parts/new-pill.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { exactTime, shortTime } from '../parts/time.ts'
import type { FormSubmission, ListedForm, Member } from '../wire/api.d.ts'
import type { Input } from '../wire/route.ts'
import { useTyped } from '../parts/controls.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { BulkBar } from './bulk-bar.tsx'
import { isNarrowed, listLink, submissionLink, wantedStatus } from './filter.ts'
import { firstLineOf, titleOf } from './submission-text.ts'
import { texts } from './submissions-texts.ts'

export type SubmissionsRoute = '/v1/forms/submissions' | '/v1/forms/{id}/submissions'

interface ListProps {
  readonly route: SubmissionsRoute
  readonly input: Input<SubmissionsRoute>
  readonly list: Listing<FormSubmission>
  readonly forms: readonly ListedForm[]
  readonly members: readonly Member[]
  readonly formId: string | undefined
  readonly chosenId: string | undefined
  readonly isFiltering: boolean
  readonly onFilter: () => void
  readonly onOpen: (row: FormSubmission | undefined) => void
}

export function SubmissionList(props: ListProps): JSX.Element {
  const { route, input, list, formId, chosenId, isFiltering, onFilter, onOpen } = props
  const w = texts()
  const rows = list.read.data ?? []
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const key = JSON.stringify(input)
  useEffect(() => setPicked(new Set()), [key])
  const pick = (id: string): void =>
    setPicked((before) => (before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id])))
  useListKeys(
    {
      ...{ rows, onOpen, search: 'answers-search' },
      isOpen: ({ id }) => id === chosenId,
      ...(chosenId !== undefined && {
        onClose: () => onOpen(undefined),
        others: mayChange.value ? { x: () => pick(chosenId) } : undefined,
      }),
    },
    [chosenId, query.value.toString()],
  )
  const news = useNews({ list: 'form_submissions', route, input, rows: list.read.state === 'ready' ? list.read.data : undefined })
  useEffect(() => {
    if (list.read.state === 'ready' && rows.length === 0 && news.added > 0) list.reload()
  }, [news])
  const chosen = rows.filter(({ id }) => picked.has(id))
  return (
    <section class="messages" aria-label={w.submissions}>
      <div class="sub-search">
        <Search />
        <button class="button sub-filter-button" aria-expanded={isFiltering} aria-controls="sub-filters" onClick={onFilter}>
          <Icon name="menu" />
          {w.statuses[wantedStatus()]}
        </button>
      </div>
      {chosen.length > 0 && (
        <BulkBar
          chosen={chosen}
          onClear={() => setPicked(new Set())}
          onDone={() => {
            setPicked(new Set())
            list.reload()
          }}
        />
      )}
      <NewPill {...news} onShow={list.reload} />
      <div class="message-list">
        <Show read={list.read} reload={list.reload} failure={w.submissionsFailed}>
          {(found) =>
            found.length === 0 && !list.more ? (
              <Empty formId={formId} />
            ) : (
              <ul>
                {found.map((row) => (
                  <Row key={row.id} row={row} {...props} isPicked={picked.has(row.id)} onPick={() => pick(row.id)} />
                ))}
              </ul>
            )
          }
        </Show>
        <Older list={list} />
      </div>
    </section>
  )
}

function Search(): JSX.Element {
  const w = texts()
  const wanted = query.value.get('q') ?? ''
  const [typed, setTyped] = useTyped(wanted)
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        go(linkHere({ q: typed.trim() }))
      }}
    >
      <input
        id="answers-search"
        class="input"
        type="search"
        aria-label={w.searchAnswers}
        placeholder={w.searchAnswers}
        aria-keyshortcuts={keyFor('/')}
        value={typed}
        maxLength={200}
        spellcheck={false}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
    </form>
  )
}

function Empty({ formId }: { readonly formId: string | undefined }): JSX.Element {
  const w = texts()
  if (!isNarrowed() && (wantedStatus() === 'open' || wantedStatus() === 'all'))
    return <State title={w.nothingYet} text={wantedStatus() === 'open' ? w.nothingOpenText : w.nothingYetText} />
  return (
    <State title={w.nothingFits} text={w.nothingFitsText({ status: w.statuses[wantedStatus()] })} drawing={<Icon name="search" />}>
      <div class="actions">
        <a class="button" href={listLink(formId, { status: '', tag: '', assignee: '', q: '' })}>
          {allTexts().clearAll}
        </a>
      </div>
    </State>
  )
}

interface RowProps extends Pick<ListProps, 'forms' | 'members' | 'formId' | 'chosenId'> {
  readonly row: FormSubmission
  readonly isPicked: boolean
  readonly onPick: () => void
}

function Row({ row, forms, members, formId, chosenId, isPicked, onPick }: RowProps): JSX.Element {
  const w = texts()
  const { id, status, created_at: at, files, tags, assignee } = row
  const title = titleOf(row)
  const answerer = members.find(({ user_id: user }) => user === assignee)
  const form = forms.find((one) => one.id === row.form_id)
  return (
    <li class={mayChange.value ? 'can-pick' : undefined}>
      {mayChange.value && (
        <label class="pick">
          <input type="checkbox" checked={isPicked} onChange={onPick} />
          <span class="hidden">{w.pick({ title: plain(title) })}</span>
        </label>
      )}
      <a
        class={status === 'new' ? 'unread' : undefined}
        href={submissionLink(row, formId)}
        aria-current={id === chosenId ? 'true' : undefined}
      >
        <b class="cut">
          {status === 'new' && <span class="hidden">{w.statuses.new}</span>}
          <SafeText text={title} />
        </b>
        <time datetime={at} title={exactTime(at)}>
          {shortTime(at, true)}
        </time>
        <span class="cut sub-line">
          <SafeText text={firstLineOf(row)} />
        </span>
        <span class="sub-facts">
          {formId === undefined && form && (
            <span class="cut">
              <SafeText text={form.name} />
            </span>
          )}
          {status === 'spam' && (
            <span class="warn">
              <Mark name="warning" /> {w.statuses.spam}
            </span>
          )}
          {(status === 'replied' || status === 'archived') && (
            <span>
              <Icon name={status === 'replied' ? 'reply' : 'archive'} /> {w.statuses[status]}
            </span>
          )}
          {files.length > 0 && (
            <span>
              <Icon name="clip" /> {w.files({ n: files.length })}
            </span>
          )}
          {answerer && (
            <span class="cut">
              <Icon name="account" /> <SafeText text={answerer.name || answerer.email} />
            </span>
          )}
          {tags.map((tag) => (
            <span class="tag cut" key={tag}>
              <SafeText text={tag} />
            </span>
          ))}
        </span>
      </a>
    </li>
  )
}
