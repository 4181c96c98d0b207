/** Menus that close on Escape and on a click outside. */
import type { ComponentChildren, JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { texts } from '../texts/shell-texts.ts'
import { Icon } from './icon.tsx'

export function useOutside(anchor: { readonly current: HTMLElement | null }, isShown: boolean, close: () => void): void {
  // not after the next paint: Escape can follow at once
  useLayoutEffect(() => {
    if (!isShown) return undefined
    const onClick = (event: Event): void => {
      if (event.target instanceof Node && !anchor.current?.contains(event.target)) close()
    }
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      close()
      anchor.current?.querySelector('button')?.focus()
    }
    document.addEventListener('pointerdown', onClick)
    document.addEventListener('keydown', onKey, true)
    return () => {
      document.removeEventListener('pointerdown', onClick)
      document.removeEventListener('keydown', onKey, true)
    }
  }, [isShown])
}

/** Wraps an action so that it closes the menu first. */
type Then = (act: () => void) => () => void

interface MoreProps {
  /** Buttons of the menu. */
  readonly acts: (then: Then) => JSX.Element
  /** Dialogs opened by the buttons. */
  readonly children: ComponentChildren
}

/** Menu of a resource behind a three-dot button. */
export function MoreMenu({ acts, children }: MoreProps): JSX.Element {
  const [isShown, setShown] = useState(false)
  const anchor = useRef<HTMLDivElement>(null)
  const close = (): void => setShown(false)
  useOutside(anchor, isShown, close)
  const then: Then = (act) => () => {
    close()
    act()
  }
  return (
    <div class="menu-anchor end" ref={anchor}>
      <button class="button quiet square" aria-label={texts().more} aria-expanded={isShown} onClick={() => setShown(!isShown)}>
        <Icon name="more" />
      </button>
      {isShown && <div class="menu">{acts(then)}</div>}
      {children}
    </div>
  )
}
