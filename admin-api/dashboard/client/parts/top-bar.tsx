/** Bar at the top of every screen: trail, title, tabs, live state, API call and at most two actions. The settings column follows it. */
import type { ComponentChildren, JSX } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import { texts } from '../texts/shell-texts.ts'
import { Icon } from './icon.tsx'
import { FrameContext, type FrameLink } from '../frame/frame.ts'
import { keyFor, useKeys } from '../app/keys.ts'
import { later } from '../app/later.tsx'
import { go, linkHere, organization } from '../app/location.ts'
import { isApiCallOpen, isMenuOpen } from '../app/open.ts'
import { BadgeCount } from '../frame/badge.tsx'
import { initial } from './safe-text.tsx'
import { SectionList } from '../frame/section-list.tsx'

/** The bar does not change while the code of the drawer loads. */
const ApiCallDrawer = later(
  () => import('./api-call.tsx'),
  () => null,
)

interface TopProps {
  readonly title: string
  /** Heading of a page of one object: links above it and its name. It has no tabs and the full width. */
  readonly heading?: ComponentChildren
  /** Whether updates arrive. Undefined for a screen without live updates. */
  readonly isLive?: boolean
  /** Content after the title, such as a copy button. */
  readonly beside?: ComponentChildren
  readonly children?: ComponentChildren
}

export function TopBar({ title, heading, isLive, beside, children }: TopProps): JSX.Element {
  const w = texts()
  const { trail, title: entry, tabs, sections } = useContext(FrameContext)
  const isPage = heading !== undefined
  useEffect(() => {
    document.title = `${title} – Postern`
  }, [title])
  const bar = (
    <header class="top">
      <MenuOpener />
      <h1 id="screen-title" tabIndex={-1}>
        {(isPage || tabs.length === 0 || sections.length > 0) &&
          trail.map(({ href, label }) => (
            <a key={href} href={href}>
              {label}
            </a>
          ))}
        {heading ?? <span class="cut">{tabs.length > 0 && entry !== undefined ? entry : title}</span>}
      </h1>
      {!isPage && tabs.length > 0 && <TabLinks label={entry ?? title} tabs={tabs} />}
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
  return !isPage && sections.length > 0 ? (
    <>
      {bar}
      <SectionList groups={sections} label={w.settingsSections} />
    </>
  ) : (
    bar
  )
}

const TabLinks = ({ label, tabs }: { readonly label: string; readonly tabs: readonly FrameLink[] }): JSX.Element => (
  <nav class="top-tabs" aria-label={label}>
    {tabs.map(({ href, label: name, isCurrent, badge }) => (
      <a key={href} href={href} aria-current={isCurrent ? 'page' : undefined}>
        {name}
        <BadgeCount badge={badge} />
      </a>
    ))}
  </nav>
)

/** Link and shortcut that open the creation form of the screen. */
export function NewLink({ label }: { readonly label: string }): JSX.Element {
  useKeys({ n: () => go(linkHere({ new: '1' })) }, [])
  return (
    <a class="button primary" href={linkHere({ new: '1' })} aria-keyshortcuts={keyFor('n')}>
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
