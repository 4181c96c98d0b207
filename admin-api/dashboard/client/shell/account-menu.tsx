/** Account menu: the pages of the user, and sign-out. */
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { useOutside } from '../parts/menu.tsx'
import { texts } from '../texts/shell-texts.ts'
import { boot } from '../app/boot.ts'
import { link } from '../app/location.ts'

export function AccountMenu(): JSX.Element {
  const w = texts()
  const [isShown, setShown] = useState(false)
  const anchor = useRef<HTMLDivElement>(null)
  useOutside(anchor, isShown, () => setShown(false))
  const close = (): void => setShown(false)
  return (
    <div class="menu-anchor up" ref={anchor}>
      <button class="nav-account" aria-expanded={isShown} title={boot.email} onClick={() => setShown(!isShown)}>
        <Icon name="account" />
        <span class="shell-label cut">{boot.email}</span>
      </button>
      {isShown && (
        <div class="menu">
          <a href={link('/settings/you')} onClick={close}>
            {w.sections.you}
          </a>
          <a href={link('/settings/preferences')} onClick={close}>
            {w.sections.preferences}
          </a>
          <form method="post" action="/sign-out">
            <input type="hidden" name="csrf" value={boot.csrfToken} />
            <button>{w.signOut}</button>
          </form>
        </div>
      )}
    </div>
  )
}
