/**
 * A list of resources with loading, empty and error states, and its search field. It is a table on wide screens and rows on narrow ones.
 */
import type { ComponentChildren, JSX } from 'preact'
import { useKeys } from '../app/keys.ts'
import { go, linkHere } from '../app/location.ts'
import type { Listing } from '../app/query.ts'
import { useTyped } from './controls.tsx'
import { Newest } from '../selection/newest.tsx'
import { texts } from '../texts/texts.ts'
import { useDrag, type Dragging } from '../selection/drag.ts'
import { Icon } from './icon.tsx'
import { Box, NarrowBox, SelectionBar, useSelection, type Bulk, type Selection } from '../selection/selection.tsx'
import { Show } from './states.tsx'
import { exactTime, shortTime } from './time.ts'

/** A time in a cell: short text, with the exact time in the tooltip. */
export const Moment = ({ at, isNarrow = false }: { readonly at: string; readonly isNarrow?: boolean }): JSX.Element => (
  <time datetime={at} title={exactTime(at)}>
    {shortTime(at, isNarrow)}
  </time>
)

export interface Column<T> {
  readonly head: string
  readonly cell: (row: T) => ComponentChildren
  readonly class?: string
}

interface ListProps<T> {
  readonly label: string
  readonly list: Listing<T>
  readonly failure: string
  /** Replaces an empty list. */
  readonly empty: JSX.Element
  readonly columns: readonly Column<T>[]
  readonly keyOf: (row: T) => string
  /** URL of a row. Omit it if rows have separate actions. */
  readonly open?: (row: T) => string
  /** Content of a row on phones: the mark, two lines, and the right side. */
  readonly narrow: (
    row: T,
  ) => readonly [mark: ComponentChildren, title: ComponentChildren, second: ComponentChildren, right?: ComponentChildren]
  /** Buttons for selected rows. Rows are selected by `x` or a checkbox. */
  readonly bulk?: Bulk<T> | false | undefined
  /** Accessible name of the checkbox. */
  readonly nameOf?: (row: T) => string
  /** Button of the row menu, at the right end of the row. */
  readonly menu?: (row: T) => ComponentChildren
  readonly drag?: Dragging<T> | undefined
}

export function List<T>({ list, failure, empty, ...rest }: ListProps<T>): JSX.Element {
  return (
    <Show read={list.read} reload={list.reload} failure={failure}>
      {(rows) =>
        rows.length === 0 ? (
          empty
        ) : (
          <>
            <Rows rows={rows} {...rest} />
            <Older list={list} />
          </>
        )
      }
    </Show>
  )
}

interface OlderProps {
  readonly list: Pick<Listing<unknown>, 'read' | 'more' | 'isLoadingMore' | 'isComplete'>
}

/** Button that loads the next page, or the sentence that the list is cut. Renders nothing after the last page. */
export const Older = ({ list: { more, isLoadingMore, isComplete = true, read } }: OlderProps) =>
  !isComplete ? (
    <Newest of={{ rows: read.data ?? [], isComplete }} />
  ) : (
    more && (
      <div class="more">
        <button class="button" aria-disabled={isLoadingMore} onClick={more}>
          {texts().older}
        </button>
      </div>
    )
  )

type RowsProps<T> = Pick<ListProps<T>, 'label' | 'columns' | 'keyOf' | 'open' | 'narrow' | 'bulk' | 'nameOf' | 'menu' | 'drag'> & {
  readonly rows: readonly T[]
}

/** `j` and `k` move between the links of the rows. */
function useRowKeys(): void {
  const step = (by: number): void => {
    const rows = document.querySelectorAll<HTMLElement>('main .table tbody tr, main .rows > li')
    const links = [...rows].flatMap((row) => row.querySelector('a') ?? []).filter((link) => link.offsetParent !== null)
    const at = links.findIndex((one) => one === document.activeElement)
    links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by))]?.focus()
  }
  useKeys({ j: () => step(1), k: () => step(-1) }, [])
}

function Rows<T>({ narrow, ...props }: RowsProps<T>): JSX.Element {
  const { rows, keyOf, open, bulk, nameOf = keyOf, menu } = props
  useRowKeys()
  const selection = useSelection(rows, keyOf, Boolean(bulk))
  const { has, toggle } = selection
  return (
    <>
      {bulk && <SelectionBar selection={selection} bulk={bulk} />}
      <WideRows {...props} selection={selection} />
      <ul class="rows">
        {rows.map((row) => {
          const [mark, title, second, right] = narrow(row)
          const inside = (
            <>
              {mark}
              <b class="over cut">{title}</b>
              <span class="right">{open ? right : ''}</span>
              <span class="over second">{second}</span>
            </>
          )
          return (
            <li
              key={keyOf(row)}
              data-row={keyOf(row)}
              class={[bulk && 'choosable', has(keyOf(row)) && 'chosen', menu && 'with-menu'].filter(Boolean).join(' ')}
              onContextMenu={menu && openMenu}
            >
              {bulk && (
                <NarrowBox label={texts().choose({ name: nameOf(row) })} isChosen={has(keyOf(row))} onToggle={() => toggle(keyOf(row))} />
              )}
              {open ? <a href={open(row)}>{inside}</a> : <div>{inside}</div>}
              {!open && right !== undefined && <div class="row-actions">{right}</div>}
              {menu && <div class="row-menu">{menu(row)}</div>}
            </li>
          )
        })}
      </ul>
    </>
  )
}

type WideProps<T> = Omit<RowsProps<T>, 'narrow'> & { readonly selection: Selection<T> }

function WideRows<T>({ label, rows, columns, keyOf, open, bulk, nameOf = keyOf, menu, drag, selection }: WideProps<T>): JSX.Element {
  const w = texts()
  const isControl = ({ target }: Event): boolean => target instanceof Element && target.closest('a, button, label, input') !== null
  const dragOf = useDrag(rows, keyOf, drag)
  const { rows: chosen, has, setAll, toggle } = selection
  return (
    <table class="table wide-only" aria-label={label}>
      <thead>
        <tr>
          {bulk && (
            <th class="c-choose">
              <Box label={w.chooseAll} isChosen={chosen.length === rows.length} onToggle={() => setAll(chosen.length < rows.length)} />
            </th>
          )}
          {columns.map(({ head, class: name }) => (
            <th key={head} class={name}>
              {head === '' ? <span class="hidden">{w.actions}</span> : head}
            </th>
          ))}
          {menu && (
            <th class="c-menu">
              <span class="hidden">{w.actions}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            data-row={keyOf(row)}
            class={`${open ? '' : 'still'}${has(keyOf(row)) ? ' chosen' : ''}`}
            onClick={(event) => open && !isControl(event) && go(open(row))}
            onContextMenu={menu && openMenu}
            {...dragOf(row)}
          >
            {bulk && (
              <td class="c-choose">
                <Box label={w.choose({ name: nameOf(row) })} isChosen={has(keyOf(row))} onToggle={() => toggle(keyOf(row))} />
              </td>
            )}
            {columns.map(({ head, cell, class: name }) => (
              <td key={head} class={name}>
                {cell(row)}
              </td>
            ))}
            {menu && <td class="c-menu">{menu(row)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** A right click opens the row menu. Links and selected text keep the menu of the browser. */
function openMenu(event: MouseEvent & { readonly currentTarget: HTMLElement }): void {
  const { currentTarget, target } = event
  const isOwn = target instanceof Element && target.closest('a, button, input') === null && getSelection()?.isCollapsed !== false
  const button = currentTarget.querySelector<HTMLElement>('.menu-button')
  if (!isOwn || !button) return
  event.preventDefault()
  button.click()
}

/**
 * Search field of a list. Submitting writes the text to the address as `q`, and `/` focuses the field. `text` is the current search;
 * `children` are additional filters.
 */
export function SearchBox(given: {
  readonly id: string
  readonly label: string
  readonly text: string
  readonly children?: ComponentChildren
}): JSX.Element {
  const { id, label, text, children } = given
  const [typed, setTyped] = useTyped(text)
  useKeys({ '/': () => document.getElementById(id)?.focus() }, [id])
  return (
    <div class="filters">
      <form
        class="query-bar"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          go(linkHere({ q: typed.trim() }))
        }}
      >
        <Icon name="search" />
        <input
          id={id}
          aria-label={label}
          placeholder={label}
          value={typed}
          spellcheck={false}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <kbd class="wide-only">/</kbd>
      </form>
      {children}
    </div>
  )
}
