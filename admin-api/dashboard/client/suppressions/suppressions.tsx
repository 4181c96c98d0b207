/** Addresses that get no mail from this organization, why, and until when. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call, save } from '../app/api.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { isMakingNew, mayAdminister } from '../app/permissions.ts'
import { asFault, useList } from '../app/query.ts'
import { TextField, Pills } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { List, Moment, SearchBox } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import {
  createSuppression,
  deleteSuppression,
  importSuppressions,
  exportSuppressions,
  listSuppressions,
  type Suppression,
} from '../wire/operations.ts'
import { words } from '../words/words.ts'
import { ImportDialog } from './import.tsx'
import { words as own } from './suppressions-words.ts'

const sources = ['manual', 'import', 'bounce', 'complaint', 'unsubscribe'] as const
type Source = (typeof sources)[number]

export default function Suppressions(): JSX.Element {
  const w = words()
  const source = sources.find((one) => one === query.value.get('source'))
  const text = query.value.get('q') ?? ''
  const filter = { ...(source && { source }), ...(text !== '' && { q: text }) }
  const list = useList(listSuppressions, { query: { ...filter, limit: '50' } })
  const remove = async ({ id, email, reason }: Suppression): Promise<void> => {
    try {
      await call(deleteSuppression, { path: { id } })
      list.change((rows) => rows.filter((row) => row.id !== id))
      toast(w.unsuppressed(email), () => void call(createSuppression, { body: { email, reason } }).then(list.reload))
    } catch (error) {
      toast(asFault(error).message)
    }
  }
  const actions = (row: Suppression): JSX.Element | string =>
    mayAdminister.value ? (
      <button class="button small" onClick={() => void remove(row)} aria-label={w.removeNamed(row.email)}>
        {w.remove}
      </button>
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
          columns={[
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
            { head: '', class: 'c-status num', cell: actions },
          ]}
          narrow={(row) => [<Mark name="suppressed" />, <SafeText text={row.email} />, `${row.source} · ${row.reason ?? ''}`, actions(row)]}
        />
      </div>
      {isMakingNew(mayAdminister) && <NewSuppression onDone={list.reload} />}
      {mayAdminister.value && query.value.get('import') === '1' && <ImportDialog onDone={list.reload} />}
    </>
  )
}

async function removeAll(rows: readonly Suppression[], done: () => void, reload: () => void): Promise<void> {
  done()
  try {
    for (const { id } of rows) await call(deleteSuppression, { path: { id } })
    const again = rows.map(({ email, reason }) => ({ email, reason }))
    toast(own().removedAll(rows.length), () => void call(importSuppressions, { body: { rows: again } }).then(reload))
  } catch (error) {
    toast(asFault(error).message)
  }
  reload()
}

interface BarProps {
  readonly filter: { readonly source?: Source; readonly q?: string }
}

function Bar({ filter }: BarProps): JSX.Element {
  const w = words()
  return (
    <TopBar title={w.suppressions}>
      <button class="button" onClick={() => void download(filter)} title={w.export}>
        <Icon name="download" />
        <span class="shell-label">{w.export}</span>
      </button>
      {mayAdminister.value && (
        <a class="button" href={linkHere({ import: '1' })} title={own().importButton}>
          <Icon name="share" />
          <span class="shell-label">{own().importButton}</span>
        </a>
      )}
      {mayAdminister.value && (
        <a class="button primary" href={linkHere({ new: '1' })}>
          <Icon name="plus" />
          <span class="shell-label">{own().suppressOne}</span>
        </a>
      )}
    </TopBar>
  )
}

async function download(filter: { readonly source?: Source; readonly q?: string }): Promise<void> {
  try {
    await save(await call(exportSuppressions, { query: filter }), 'suppressions.csv')
  } catch (error) {
    toast(asFault(error).message)
  }
}

function Filters({ text, source }: { readonly text: string; readonly source: Source | undefined }): JSX.Element {
  const w = words()
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
    <State title={words().nothingMatches} text={words().nothingMatchesText} drawing={<Icon name="search" />}>
      <div class="actions">
        <a class="button" href={linkHere({ q: '', source: '' })}>
          {words().clearAll}
        </a>
      </div>
    </State>
  ) : (
    <State title={words().noSuppressions} text={words().noSuppressionsText} />
  )

function NewSuppression({ onDone }: { readonly onDone: () => void }): JSX.Element {
  const w = words()
  const [email, setEmail] = useState('')
  const [reason, setReason] = useState('')
  const close = (): void => go(linkHere({ new: '' }), { replaces: true })
  const create = async (): Promise<void> => {
    const { id } = await call(createSuppression, { body: { email, ...(reason !== '' && { reason }) } })
    close()
    onDone()
    toast(w.suppressedNow(email), () => void call(deleteSuppression, { path: { id } }).then(onDone))
  }
  return (
    <FormDialog title={own().suppressOne} submit={own().suppressOne} onClose={close} onSubmit={create}>
      {(fault) => (
        <>
          <TextField label={w.address} value={email} onChange={setEmail} fault={fault?.fields.get('email')} />
          <TextField label={w.reason} value={reason} onChange={setReason} fault={fault?.fields.get('reason')} />
        </>
      )}
    </FormDialog>
  )
}
