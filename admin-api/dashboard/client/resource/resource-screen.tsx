/** Screen of a described resource: top bar, filters, list in all states, menus and dialogs. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { go, linkHere, projectId, query } from '../app/location.ts'
import { showFault, useList, useRead, type Listing } from '../app/query.ts'
import { Icon } from '../parts/icon.tsx'
import { List, type Column as ListColumn } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { SecretDialog, type Secret } from '../parts/secret-dialog.tsx'
import { NothingMatches, State } from '../parts/states.tsx'
import { NewLink, TopBar } from '../parts/top-bar.tsx'
import { texts } from '../texts/texts.ts'
import type { ListRoute } from '../wire/route.ts'
import { untyped, type AnyRow, type Column, type Described, type ListPath, type Resource } from './description.ts'
import { Filters, filterOf } from './resource-filters.tsx'
import { EditResource, NewResource } from './resource-form.tsx'
import { bulkOf, mayEdit, removeRow, useRowActs } from './row-acts.tsx'
import { useRowMenus } from './row-menu.tsx'
import '../style/resource.css' with { type: 'css' }

export function resourceScreen<P extends ListPath, D extends object>(given: Resource<P, D>): () => JSX.Element {
  const of = untyped(given)
  return () => <ResourceScreen of={of} />
}

function ResourceScreen({ of }: { readonly of: Described }): JSX.Element {
  const filter = filterOf(of)
  const project = of.isOfProject && projectId.value !== undefined ? { project: projectId.value } : {}
  const list = useList(of.path as ListRoute, { query: { ...project, ...filter } }) as unknown as Listing<AnyRow>
  const rows = list.read.data ?? []
  const { entriesOf, dialog } = useRowActs(of, {
    reload: list.reload,
    onRemoved: ({ id }) => {
      list.change((before) => before.filter((row) => row.id !== id))
      if (!of.remove || 'effects' in of.remove.how) list.reload()
    },
  })
  const { button, menu } = useRowMenus((key) => rows.flatMap((row) => (row.id === key ? entriesOf(row) : [])))
  const isFiltered = Object.keys(filter).length > 0
  return (
    <>
      <Bar of={of} filter={filter} />
      <div class="sheet">
        {of.above && (rows.length > 0 || list.read.state === 'loading') && <div class="above">{of.above({ rows })}</div>}
        <Filters of={of} filter={filter} />
        <List<AnyRow>
          label={of.title()}
          list={list}
          failure={of.failure()}
          keyOf={({ id }) => id}
          nameOf={of.name}
          open={of.open}
          empty={isFiltered || list.more ? <Nothing of={of} more={list.more} /> : <Empty of={of} />}
          bulk={bulkOf(of, list.reload)}
          columns={of.columns.map((column) => wide(of, column))}
          narrow={(row) => narrow(of, row)}
          {...(mayEdit(of) && { menu: (row) => entriesOf(row).length > 0 && button(row.id, plain(of.name(row))) })}
        />
        {of.below?.({ reload: list.reload })}
      </div>
      {menu}
      {dialog}
      {mayEdit(of) && <Dialogs of={of} list={list} />}
    </>
  )
}

interface BarProps {
  readonly of: Described
  readonly filter: Readonly<Record<string, string>>
}

const Bar = ({ of, filter }: BarProps): JSX.Element => (
  <TopBar title={of.title()}>
    {of.tools
      ?.filter(({ isForChanges = false }) => !isForChanges || mayEdit(of))
      .map(({ label, icon, href, run }) => {
        const inside = (
          <>
            <Icon name={icon} />
            <span class="shell-label">{label()}</span>
          </>
        )
        return href ? (
          <a key={icon} class="button" href={href()} title={label()}>
            {inside}
          </a>
        ) : (
          <button key={icon} class="button" title={label()} onClick={() => void run?.(filter).catch(showFault)}>
            {inside}
          </button>
        )
      })}
    {of.form?.create && mayEdit(of) && <NewLink label={of.form.create.label()} />}
  </TopBar>
)

const Empty = ({ of }: { readonly of: Described }): JSX.Element => (
  <State title={of.empty.title()} text={of.empty.text()}>
    {of.form?.create && mayEdit(of) && (
      <div class="actions">
        <a class="button primary" href={linkHere({ new: '1' })}>
          {of.form.create.label()}
        </a>
      </div>
    )}
    {of.empty.docs && (
      <p>
        <a href={of.empty.docs.href}>{of.empty.docs.label()}</a>
      </p>
    )}
  </State>
)

const Nothing = ({ of, more }: { readonly of: Described; readonly more: (() => void) | undefined }): JSX.Element => {
  const names = [...(of.search ? ['q'] : []), ...(of.filters ?? []).map(({ name }) => name)]
  const all = linkHere(Object.fromEntries(names.map((name) => [name, ''])))
  return <NothingMatches all={all} more={more} {...(more && { text: texts().noMatchYet })} />
}

/** Dialogs that the address opens, and the secret of a created resource. */
function Dialogs({ of, list }: { readonly of: Described; readonly list: Listing<AnyRow> }): JSX.Element {
  const [secret, setSecret] = useState<Secret>()
  const id = query.value.get('edit') ?? undefined
  const known = list.read.data?.find((row) => row.id === id)
  const isElsewhere = of.form?.update !== undefined && id !== undefined && list.read.state === 'ready' && !known
  const read = useRead(`${of.path}/{id}` as ListRoute, isElsewhere ? { path: { id } } : undefined)
  const edited = known ?? (read.data as AnyRow | undefined)
  const close = (): void => go(linkHere({ new: '', edit: '' }), { replaces: true })
  const { remove } = of
  const undo = (made: AnyRow): void => void removeRow(of, made).catch(showFault).finally(list.reload)
  return (
    <>
      {query.value.get('new') === '1' && (
        <NewResource
          of={of}
          undo={remove && 'undo' in remove.how ? undo : undefined}
          onSecret={setSecret}
          onClose={close}
          onDone={list.reload}
        />
      )}
      {edited && <EditResource key={edited.id} of={of} row={edited} onClose={close} onDone={list.reload} />}
      {secret && <SecretDialog secret={secret} onDone={() => setSecret(undefined)} />}
    </>
  )
}

const classes = { name: 'strong', status: 'c-health', text: '', number: 'c-took num', time: 'c-time', strip: 'c-strip' } as const

function wide(of: Described, column: Column<AnyRow>): ListColumn<AnyRow> {
  const { kind, head, cell, isSpare = false } = column
  const isTall = kind === 'name' && column.under !== undefined
  return {
    head: head(),
    class: [classes[kind], isTall && 'tall', isSpare && 'c-spare'].filter(Boolean).join(' '),
    cell: (row) => {
      if (column.kind === 'name') return <Name of={of} row={row} column={column} />
      const href = column.to?.(row)
      const inside = href === undefined ? cell(row) : <a href={href}>{cell(row)}</a>
      return kind === 'status' ? <span class="status">{inside}</span> : inside
    },
  }
}

interface NameProps {
  readonly of: Described
  readonly row: AnyRow
  readonly column: Extract<Column<AnyRow>, { readonly kind: 'name' }>
}

const Name = ({ of, row, column: { cell, under } }: NameProps): JSX.Element => (
  <span class="named">
    <Mark name={of.mark(row)} />
    <a href={of.open(row)}>
      <SafeText text={cell(row)} />
    </a>
    {under && (
      <small class="mono">
        <SafeText text={under(row)} />
      </small>
    )}
  </span>
)

type Narrow = readonly [mark: ComponentChildren, title: ComponentChildren, second: ComponentChildren, right: ComponentChildren]

/** Returns the parts of a row on phones. */
function narrow(of: Described, row: AnyRow): Narrow {
  const { columns } = of
  const name = columns.find((column) => column.kind === 'name')
  const firstOf = (kinds: readonly Column<AnyRow>['kind'][]) =>
    columns.find((column) => kinds.includes(column.kind) && column.narrow !== 'none')
  const defaults = new Set([firstOf(['status']), name?.kind === 'name' && name.under ? undefined : firstOf(['text'])])
  const second = [
    ...columns
      .filter((column) => column.narrow === 'second' || (column.narrow === undefined && defaults.has(column)))
      .map(({ cell }) => cell(row)),
    ...(name?.kind === 'name' && name.under ? [<SafeText text={name.under(row)} />] : []),
  ].filter((part) => part !== '' && part !== null)
  const right = columns.find((column) => column.narrow === 'right') ?? firstOf(['time', 'number'])
  return [
    <Mark name={of.mark(row)} />,
    <SafeText text={of.name(row)} />,
    second.map((part, at) => (
      <>
        {at > 0 && ' · '}
        {part}
      </>
    )),
    right?.cell(row),
  ]
}
