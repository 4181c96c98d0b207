/** Bar at the top of every screen: title, live state, API call and at most two actions. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { texts } from '../texts/shell-texts.ts'
import { Icon } from './icon.tsx'
import { keyFor, useKeys } from '../app/keys.ts'
import { later } from '../app/later.tsx'
import { go, linkHere, organization } from '../app/location.ts'
import { isApiCallOpen, isMenuOpen } from '../app/open.ts'
import { initial } from './safe-text.tsx'

/** The bar does not change while the code of the drawer loads. */
const ApiCallDrawer = later(
  () => import('./api-call.tsx'),
  () => null,
)

interface TopProps {
  readonly title: string
  /** Visible heading, if it differs from the page title of the browser. */
  readonly heading?: ComponentChildren
  /** Whether updates arrive. Undefined for a screen without live updates. */
  readonly isLive?: boolean
  /** Content after the title, such as a copy button. */
  readonly beside?: ComponentChildren
  readonly children?: ComponentChildren
}

export function TopBar({ title, heading, isLive, beside, children }: TopProps): JSX.Element {
  const w = texts()
  useEffect(() => {
    document.title = `${title} – Postern`
  }, [title])
  return (
    <header class="top">
      <MenuOpener />
      <h1 id="screen-title" tabIndex={-1}>
        {heading ?? title}
      </h1>
      {beside}
      <div class="top-tools">
        {isLive !== undefined && (
          <span class={isLive ? 'live' : 'live off'} title={isLive ? w.live : undefined}>
            {isLive ? w.live : w.notLive}
          </span>
        )}
        <button class="button quiet" onClick={() => (isApiCallOpen.value = true)} title={w.asApiCall}>
          <Icon name="code" />
          <span class="shell-label">{w.apiCall}</span>
        </button>
        {children}
      </div>
      {isApiCallOpen.value && <ApiCallDrawer onClose={() => (isApiCallOpen.value = false)} />}
    </header>
  )
}

/** Link and shortcut that open the creation form of the screen. */
export function NewLink({ label }: { readonly label: string }): JSX.Element {
  useKeys({ c: () => go(linkHere({ new: '1' })) }, [])
  return (
    <a class="button primary" href={linkHere({ new: '1' })} aria-keyshortcuts={keyFor('c')}>
      <Icon name="plus" />
      <span class="shell-label">{label}</span>
    </a>
  )
}

/** Button that opens the navigation on phones. */
const MenuOpener = (): JSX.Element => (
  <button class="phone-only arch" aria-label={texts().openMenu} onClick={() => (isMenuOpen.value = !isMenuOpen.value)}>
    {initial(organization.value?.name ?? '')}
  </button>
)
