/** Screen for mailing list unsubscribes by link, with an action that reverts one on request of the recipient. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, linkHere, projectId, query } from '../app/location.ts'
import { mayAdminister } from '../app/permissions.ts'
import { useList } from '../app/query.ts'
import { EndDialog } from '../parts/forms.tsx'
import { List, Moment, SearchBox, type Column } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { NothingMatches, State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { Unsubscribe } from '../wire/api.d.ts'
import { useTyped } from '../parts/controls.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './unsubscribes-texts.ts'

export default function Unsubscribes(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const text = query.value.get('q') ?? ''
  const ofList = query.value.get('list') ?? ''
  const filter = {
    ...(projectId.value !== undefined && { project: projectId.value }),
    ...(ofList !== '' && { list: ofList }),
    ...(text !== '' && { q: text }),
  }
  const list = useList('/v1/unsubscribes', { query: filter })
  const [undoing, setUndoing] = useState<Unsubscribe>()
  const actions = (row: Unsubscribe): JSX.Element | string =>
    mayAdminister.value ? (
      <button class="button small" onClick={() => setUndoing(row)} aria-label={w.undoNamed({ email: plain(row.email) })}>
        {w.undo}
      </button>
    ) : (
      ''
    )
  return (
    <>
      <TopBar title={common.unsubscribes} />
      <div class="sheet">
        <SearchBox id="unsubscribed" label={common.searchAddresses} text={text}>
          <OfList list={ofList} />
        </SearchBox>
        <List
          label={common.unsubscribes}
          list={list}
          failure={w.failed}
          keyOf={({ id }) => id}
          empty={<Nothing isFiltered={text !== '' || ofList !== ''} more={list.more} />}
          columns={columns(actions)}
          narrow={(row) => [
            <Mark name="suppressed" />,
            <SafeText text={row.email} />,
            <>
              <SafeText text={nameOf(row)} /> · <Moment at={row.created_at} isNarrow />
            </>,
            actions(row),
          ]}
        />
      </div>
      {undoing && <Undo row={undoing} onClose={() => setUndoing(undefined)} onDone={list.reload} />}
    </>
  )
}

/** Returns the list name. An entry from before the introduction of lists applies to all lists. */
const nameOf = ({ list }: Unsubscribe): string => list ?? texts().everyList

function columns(actions: (row: Unsubscribe) => JSX.Element | string): readonly Column<Unsubscribe>[] {
  const [w, common] = [texts(), allTexts()]
  return [
    {
      head: common.address,
      class: 'strong',
      cell: ({ email }) => (
        <a href={link('/traces', { to: email })}>
          <SafeText text={email} />
        </a>
      ),
    },
    {
      head: w.list,
      cell: (row) =>
        row.list === null ? (
          nameOf(row)
        ) : (
          <a href={linkHere({ list: row.list })}>
            <SafeText text={row.list} />
          </a>
        ),
    },
    {
      head: w.message,
      class: 'c-time',
      cell: ({ trace_id: trace }) =>
        trace === null ? (
          '–'
        ) : (
          <a class="mono" href={link(`/traces/${trace}`)}>
            {trace.slice(0, 8)}
          </a>
        ),
    },
    { head: common.since, class: 'c-time', cell: ({ created_at: at }) => <Moment at={at} /> },
    { head: '', class: 'c-actions num', cell: actions },
  ]
}

/** Filter by mailing list, stored in the address. */
function OfList({ list }: { readonly list: string }): JSX.Element {
  const w = texts()
  const [typed, setTyped] = useTyped(list)
  return (
    <form
      class="narrowing"
      onSubmit={(event) => {
        event.preventDefault()
        go(linkHere({ list: typed.trim() }))
      }}
    >
      <input
        class="input list-filter"
        aria-label={w.list}
        placeholder={w.listHint}
        value={typed}
        maxLength={320}
        spellcheck={false}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </form>
  )
}

interface NothingProps {
  readonly isFiltered: boolean
  /** A filtered page can be empty although later pages are not. */
  readonly more: (() => void) | undefined
}

function Nothing({ isFiltered, more }: NothingProps): JSX.Element {
  const w = texts()
  if (!isFiltered && !more)
    return (
      <State title={w.none} text={w.noneText}>
        <p>
          <a href="/docs/suppressions">{w.chapter}</a>
        </p>
      </State>
    )
  return <NothingMatches all={linkHere({ q: '', list: '' })} more={more} {...(more && { text: w.noneYet })} />
}

interface UndoProps {
  readonly row: Unsubscribe
  readonly onClose: () => void
  readonly onDone: () => void
}

function Undo({ row, onClose, onDone }: UndoProps): JSX.Element {
  const w = texts()
  const email = plain(row.email)
  return (
    <EndDialog
      title={w.undo}
      effects={[w.undoEffect({ list: plain(nameOf(row)) }), w.undoOnlyIfAsked, w.undoNoWayBack]}
      name={email}
      submit={w.undo}
      onClose={onClose}
      onSubmit={async () => {
        await call('DELETE /v1/unsubscribes/{id}', { path: { id: row.id } })
        toast(w.undone({ email }))
        onClose()
        onDone()
      }}
    />
  )
}
