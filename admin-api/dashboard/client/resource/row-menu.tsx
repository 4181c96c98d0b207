/** Menu of a row. One menu in the top layer serves all rows, so that lists with scroll bars cannot cut it. */
import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { keyFor, useKeys } from '../app/keys.ts'
import { Icon } from '../parts/icon.tsx'
import { keyOfFocusedRow } from '../selection/selection.tsx'
import { texts } from '../texts/texts.ts'

export interface MenuEntry {
  readonly label: string
  /** URL, or an action. */
  readonly href?: string
  readonly run?: () => void
  readonly isBad?: boolean
}

interface Opened {
  readonly key: string
  readonly anchor: HTMLElement
}

interface RowMenus {
  /** Returns the button of a row. */
  readonly button: (key: string, name: string) => JSX.Element
  /** The open menu. */
  readonly menu: JSX.Element | undefined
}

/** Menus of rows by key. `m` and a right click open the menu of a row too. */
export function useRowMenus(entriesOf: (key: string) => readonly MenuEntry[]): RowMenus {
  const [opened, setOpened] = useState<Opened>()
  const openFocused = (): void => {
    const key = keyOfFocusedRow()
    const buttons = document.querySelectorAll<HTMLElement>(`[data-row="${CSS.escape(key ?? '')}"] .menu-button`)
    ;[...buttons].find((button) => button.offsetParent !== null)?.click()
  }
  useKeys({ m: openFocused }, [])
  return {
    button: (key, name) => (
      <button
        class="button quiet square small menu-button"
        type="button"
        aria-label={texts().actionsFor({ name })}
        aria-haspopup="menu"
        aria-expanded={opened?.key === key}
        aria-keyshortcuts={keyFor('m')}
        onClick={({ currentTarget }) => setOpened(opened?.key === key ? undefined : { key, anchor: currentTarget })}
      >
        <Icon name="more" />
      </button>
    ),
    menu: opened && (
      <PlacedMenu key={opened.key} anchor={opened.anchor} entries={entriesOf(opened.key)} onClose={() => setOpened(undefined)} />
    ),
  }
}

interface PlacedProps {
  readonly anchor: HTMLElement
  readonly entries: readonly MenuEntry[]
  readonly onClose: () => void
}

function PlacedMenu({ anchor, entries, onClose }: PlacedProps): JSX.Element {
  const menu = useRef<HTMLDivElement>(null)
  const close = (): void => {
    anchor.focus()
    onClose()
  }
  useLayoutEffect(() => {
    const { current } = menu
    if (!current) return undefined
    current.showPopover()
    placeAt(current, anchor)
    itemsOf(current)[0]?.focus()
    const onPress = ({ target }: Event): void => {
      if (target instanceof Node && !current.contains(target) && !anchor.contains(target)) onClose()
    }
    document.addEventListener('pointerdown', onPress)
    document.addEventListener('scroll', onClose, true)
    window.addEventListener('resize', onClose)
    return () => {
      document.removeEventListener('pointerdown', onPress)
      document.removeEventListener('scroll', onClose, true)
      window.removeEventListener('resize', onClose)
    }
  }, [])
  return (
    <div
      ref={menu}
      class="menu"
      popover="manual"
      role="menu"
      aria-label={anchor.getAttribute('aria-label') ?? ''}
      onKeyDown={keysOf(close)}
    >
      {entries.map(({ label, href, run, isBad = false }) =>
        href === undefined ? (
          <button
            key={label}
            class={isBad ? 'bad' : ''}
            type="button"
            role="menuitem"
            tabIndex={-1}
            onClick={() => {
              close()
              run?.()
            }}
          >
            {label}
          </button>
        ) : (
          <a key={label} href={href} role="menuitem" tabIndex={-1} onClick={close}>
            {label}
          </a>
        ),
      )}
    </div>
  )
}

const itemsOf = (menu: HTMLElement): HTMLElement[] => [...menu.querySelectorAll<HTMLElement>('[role="menuitem"]')]

/** Places the menu below the right end of the button, or above it without space below. */
function placeAt(menu: HTMLElement, anchor: HTMLElement): void {
  const { top, bottom, right } = anchor.getBoundingClientRect()
  const isAbove = bottom + menu.offsetHeight + 8 > innerHeight && top > menu.offsetHeight + 8
  menu.style.left = `${String(Math.max(8, right - menu.offsetWidth))}px`
  menu.style.top = `${String(isAbove ? top - menu.offsetHeight - 4 : bottom + 4)}px`
}

/** Arrow keys, Home, End and first letters move between entries. Escape and Tab close the menu. */
const keysOf =
  (close: () => void) =>
  (event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void => {
    const { key, currentTarget, ctrlKey, metaKey, altKey } = event
    if (ctrlKey || metaKey || altKey || key === 'Enter' || key === ' ') return
    event.preventDefault()
    if (key === 'Escape' || key === 'Tab') return close()
    const items = itemsOf(currentTarget)
    const at = items.findIndex((item) => item === document.activeElement)
    const next: Readonly<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 }
    const startsWith = (item: HTMLElement): boolean => item.innerText.toLowerCase().startsWith(key.toLowerCase())
    const target = next[key] ?? [...items.slice(at + 1), ...items].findIndex(startsWith) + at + 1
    if (Object.hasOwn(next, key) || items.some(startsWith)) items[target % items.length]?.focus()
  }
