/** Screen for suppressions of the organization with reason and expiry. */
import type { JSX } from 'preact'
import { call, save } from '../app/api.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { isMakingNew, mayAdminister } from '../app/permissions.ts'
import { asFault, useList } from '../app/query.ts'
import { Pills } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { List, Moment, SearchBox, type Column } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { NothingMatches, State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { Suppression } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { EditSuppression, NewSuppression } from './edit-suppression.tsx'
import { ImportDialog } from './import.tsx'
import { texts as own } from './suppressions-texts.ts'

const sources = ['manual', 'import', 'bounce', 'complaint', 'unsubscribe'] as const
type Source = (typeof sources)[number]

export default function Suppressions(): JSX.Element {
  const w = texts()
  const source = sources.find((one) => one === query.value.get('source'))
  const text = query.value.get('q') ?? ''
  const filter = { ...(source && { source }), ...(text !== '' && { q: text }) }
  const list = useList('/v1/suppressions', { query: filter })
  const edited = mayAdminister.value ? list.read.data?.find(({ id }) => id === query.value.get('edit')) : undefined
  const remove = async (row: Suppression): Promise<void> => {
    const { id, email } = row
    try {
      await call('DELETE /v1/suppressions/{id}', { path: { id } })
      list.change((rows) => rows.filter((one) => one.id !== id))
      toast(w.unsuppressed({ email }), () => void call('POST /v1/suppressions', { body: asBefore(row) }).then(list.reload))
    } catch (error) {
      toast(asFault(error).message)
    }
  }
  const actions = (row: Suppression): JSX.Element | string =>
    mayAdminister.value ? (
      <span class="row-buttons">
        <a
          class="button small"
          href={linkHere({ edit: row.id, new: '', import: '' })}
          aria-label={own().changeNamed({ email: plain(row.email) })}
        >
          {own().change}
        </a>
        <button class="button small" onClick={() => void remove(row)} aria-label={w.removeNamed({ name: row.email })}>
          {w.remove}
        </button>
      </span>
    ) : (
      ''
    )
  return (
    <>
      <Bar filter={filter} />
      <div class="sheet">
        <Filters text={text} source={source} />
        <List
          label={w.suppressions}
          list={list}
          failure={w.suppressionsFailed}
          keyOf={({ id }) => id}
          empty={<Nothing isFiltered={text !== '' || source !== undefined} />}
          nameOf={({ email }) => email}
          bulk={
            mayAdminister.value &&
            ((rows, done) => (
              <button class="button small" onClick={() => void removeAll(rows, done, list.reload)}>
                {w.remove}
              </button>
            ))
          }
          columns={columns(actions)}
          narrow={(row) => [<Mark name="suppressed" />, <SafeText text={row.email} />, `${row.source} · ${row.reason ?? ''}`, actions(row)]}
        />
      </div>
      {edited && <EditSuppression key={edited.id} row={edited} onDone={list.reload} />}
      {isMakingNew(mayAdminister) && <NewSuppression onDone={list.reload} />}
      {mayAdminister.value && query.value.get('import') === '1' && <ImportDialog onDone={list.reload} />}
    </>
  )
}

function columns(actions: (row: Suppression) => JSX.Element | string): readonly Column<Suppression>[] {
  const w = texts()
  return [
    {
      head: w.address,
      class: 'strong',
      cell: ({ email }) => (
        <a href={link('/traces', { to: email })}>
          <SafeText text={email} />
        </a>
      ),
    },
    { head: w.origin, class: 'c-time', cell: ({ source: one }) => one },
    { head: w.reason, cell: ({ reason }) => <SafeText text={reason ?? '–'} /> },
    { head: w.since, class: 'c-time', cell: ({ created_at: at }) => <Moment at={at} /> },
    { head: w.expires, class: 'c-time', cell: ({ expires_at: at }) => (at === null ? w.never : <Moment at={at} />) },
    { head: '', class: 'c-actions num', cell: actions },
  ]
}

/** Returns the request that restores a suppression. Omits a past expiry, which the service would reject. */
const asBefore = ({ email, reason, expires_at: until }: Suppression) => ({
  ...{ email, reason },
  ...(until !== null && Date.parse(until) > Date.now() && { expires_at: until }),
})

async function removeAll(rows: readonly Suppression[], done: () => void, reload: () => void): Promise<void> {
  done()
  try {
    for (const { id } of rows) await call('DELETE /v1/suppressions/{id}', { path: { id } })
    const again = rows.map(asBefore)
    toast(
      own().removedAll({ n: rows.length }),
      () => void call('POST /v1/suppressions/bulk-import', { body: { rows: again } }).then(reload),
    )
  } catch (error) {
    toast(asFault(error).message)
  }
  reload()
}

interface BarProps {
  readonly filter: { readonly source?: Source; readonly q?: string }
}

function Bar({ filter }: BarProps): JSX.Element {
  const w = texts()
  return (
    <TopBar title={w.suppressions}>
      <button class="button" onClick={() => void download(filter)} title={w.export}>
        <Icon name="download" />
        <span class="shell-label">{w.export}</span>
      </button>
      {mayAdminister.value && (
        <a class="button" href={linkHere({ import: '1', new: '', edit: '' })} title={own().importButton}>
          <Icon name="share" />
          <span class="shell-label">{own().importButton}</span>
        </a>
      )}
      {mayAdminister.value && (
        <a class="button primary" href={linkHere({ new: '1', import: '', edit: '' })}>
          <Icon name="plus" />
          <span class="shell-label">{own().suppressOne}</span>
        </a>
      )}
    </TopBar>
  )
}

async function download(filter: { readonly source?: Source; readonly q?: string }): Promise<void> {
  try {
    await save(await call('/v1/suppressions/export', { query: filter }), 'suppressions.csv')
  } catch (error) {
    toast(asFault(error).message)
  }
}

function Filters({ text, source }: { readonly text: string; readonly source: Source | undefined }): JSX.Element {
  const w = texts()
  return (
    <SearchBox id="suppressed" label={w.searchAddresses} text={text}>
      <Pills
        label={w.source}
        value={source ?? ''}
        onChoose={(next) => go(linkHere({ source: next }))}
        pills={[{ value: '', label: w.all }, ...sources.map((one) => ({ value: one, label: one }))]}
      />
    </SearchBox>
  )
}

const Nothing = ({ isFiltered }: { readonly isFiltered: boolean }): JSX.Element =>
  isFiltered ? (
    <NothingMatches all={linkHere({ q: '', source: '' })} />
  ) : (
    <State title={texts().noSuppressions} text={texts().noSuppressionsText} />
  )
