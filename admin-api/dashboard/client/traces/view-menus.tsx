/** Menus of the trace list: columns and saved views. */
import type { ComponentChildren, JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { go, linkHere, query } from '../app/location.ts'
import { TextField } from '../parts/controls.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { useOutside } from '../parts/menu.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import { columnNames, columns, showColumn } from './columns.ts'
import { filterNames } from './filters.ts'
import { maxViews, removeView, savedViews, saveView, type SavedView } from './saved-views.ts'
import { texts } from './traces-texts.ts'

interface MenuProps {
  readonly label: string
  readonly icon: IconName
  readonly children: (close: () => void) => ComponentChildren
}

function Menu({ label, icon, children }: MenuProps): JSX.Element {
  const [isShown, setShown] = useState(false)
  const anchor = useRef<HTMLDivElement>(null)
  const close = (): void => setShown(false)
  useOutside(anchor, isShown, close)
  return (
    <div class="menu-anchor end" ref={anchor}>
      <button type="button" class="button quiet small" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
        <Icon name={icon} />
        <span class="shell-label">{label}</span>
      </button>
      {isShown && (
        <div class="menu" role="group" aria-label={label}>
          {children(close)}
        </div>
      )}
    </div>
  )
}

export function ColumnsMenu(): JSX.Element {
  const w = texts()
  return (
    <Menu label={w.columns} icon="menu">
      {() =>
        columnNames.map((name) => (
          <label key={name} class="check">
            <input type="checkbox" checked={columns.value.has(name)} onChange={(event) => showColumn(name, event.currentTarget.checked)} />
            {w.column[name]}
          </label>
        ))
      }
    </Menu>
  )
}

const viewParts = [...filterNames, 'range'] as const

/** Returns the filters of the address without the open trace. */
const filtersHere = (): string =>
  new URLSearchParams(viewParts.flatMap((name) => (query.value.get(name) ? [[name, query.value.get(name) ?? '']] : []))).toString()

function openView(view: SavedView): string {
  const kept = new URLSearchParams(view.query)
  return linkHere({ ...Object.fromEntries(viewParts.map((name) => [name, kept.get(name) ?? ''])), trace: '' })
}

export function ViewsMenu(): JSX.Element {
  const w = texts()
  return (
    <Menu label={w.views} icon="lock">
      {(close) => (
        <>
          {savedViews().map((view) => (
            <div key={view.name} class="view">
              <a href={openView(view)} aria-current={view.query === filtersHere() ? 'true' : undefined} onClick={close}>
                {plain(view.name)}
              </a>
              <button type="button" aria-label={w.removeView({ name: plain(view.name) })} onClick={() => drop(view)}>
                <Icon name="close" />
              </button>
            </div>
          ))}
          {filtersHere() === '' ? <p class="soft">{w.viewsHint}</p> : <SaveView onSaved={close} />}
        </>
      )}
    </Menu>
  )
}

function drop(view: SavedView): void {
  removeView(view.name)
  toast(texts().viewRemoved({ name: plain(view.name) }), () => saveView(view))
}

function SaveView({ onSaved }: { readonly onSaved: () => void }): JSX.Element {
  const w = texts()
  const [name, setName] = useState('')
  const isFull = savedViews().length >= maxViews && savedViews().every((view) => view.name !== name.trim())
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() === '' || isFull) return
        const view = { name: name.trim().slice(0, 60), query: filtersHere() }
        saveView(view)
        onSaved()
        go(openView(view), { replaces: true })
        toast(w.viewSaved({ name: plain(view.name) }))
      }}
    >
      <TextField
        label={w.viewName}
        value={name}
        onChange={setName}
        hint={w.viewKept}
        {...(isFull && { fault: w.viewsFull({ n: maxViews }) })}
      />
      <button class="button" aria-disabled={name.trim() === '' || isFull}>
        {w.saveView}
      </button>
    </form>
  )
}
