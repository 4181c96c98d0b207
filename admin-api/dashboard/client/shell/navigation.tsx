/** Navigation: project, search, entries in groups and account. It is a rail on narrow screens and a bottom bar on phones. */
import type { JSX } from 'preact'
import { BadgeCount } from '../frame/badge.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { texts } from '../texts/shell-texts.ts'
import { link, path } from '../app/location.ts'
import { commandKey, pressedFor } from '../app/keys.ts'
import { isMenuOpen, isPaletteOpen, type Badge } from '../app/open.ts'
import { mayRead } from '../app/permissions.ts'
import { shortcuts } from '../app/settings.ts'
import { AccountMenu } from './account-menu.tsx'
import { entryLabel } from './frame.tsx'
import { ProjectMenu } from './project-menu.tsx'
import type { Screen } from '../screens/screen.ts'
import { badgeOf, entryOf, isListed, mayOpen, screenAt, screens, screensOf } from '../screens/screens.ts'

const groups = ['mail', 'delivery', 'content'] as const

/** Link to the first screen of the entry that the role permits. */
function Entry({ entry }: { readonly entry: Screen }): JSX.Element | null {
  const inside = screensOf(entry)
  const first = inside.find((screen) => (screen === entry || screen.tab) && isListed(screen))
  const current = screenAt(path.value)
  if (!first) return null
  return (
    <NavLink
      href={link(first.at)}
      label={entryLabel(entry)(texts())}
      icon={entry.icon}
      isCurrent={current !== undefined && entryOf(current) === entry}
      badge={badgeOf(inside)}
      {...(entry.key !== undefined && { shortcut: entry.key })}
    />
  )
}

interface NavLinkProps {
  readonly href: string
  readonly label: string
  readonly icon: IconName
  readonly isCurrent: boolean
  readonly badge?: Badge | undefined
  readonly shortcut?: string
}

const NavLink = ({ href, label, icon, isCurrent, badge, shortcut }: NavLinkProps): JSX.Element => (
  <a
    href={href}
    title={label}
    aria-current={isCurrent ? 'page' : undefined}
    aria-keyshortcuts={shortcuts.value && shortcut !== undefined ? `${pressedFor('g')} ${shortcut}` : undefined}
    onClick={() => (isMenuOpen.value = false)}
  >
    <Icon name={icon} />
    <span class="shell-label">{label}</span>
    <BadgeCount badge={badge} />
  </a>
)

export function Navigation(): JSX.Element {
  const w = texts()
  const titles = { mail: '', delivery: w.groupDelivery, content: w.groupContent }
  const entriesOf = (group: Screen['group']): readonly Screen[] =>
    screens.filter((screen) => screen.group === group && screensOf(screen).some(isListed))
  return (
    <nav class={isMenuOpen.value ? 'nav open' : 'nav'} aria-label={w.mainNavigation}>
      <ProjectMenu />
      <button class="nav-search" title={w.searchOrJump} onClick={() => (isPaletteOpen.value = true)} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" />
        <span class="shell-label">{w.searchOrJump}</span>
        <kbd class="shell-label">{commandKey('K')}</kbd>
      </button>
      <div class="nav-groups">
        {groups.map((group) => {
          const entries = entriesOf(group)
          return (
            entries.length > 0 && (
              <div class="nav-group" key={group}>
                {titles[group] !== '' && <h2>{titles[group]}</h2>}
                {entries.map((entry) => (
                  <Entry key={entry.at} entry={entry} />
                ))}
              </div>
            )
          )
        })}
      </div>
      <div class="nav-group nav-foot">
        {entriesOf('foot').map((entry) => (
          <Entry key={entry.at} entry={entry} />
        ))}
        <NavLink href="/docs" label={w.entries.docs} icon="docs" isCurrent={screenAt(path.value)?.at === '/docs/api'} />
        <AccountMenu />
      </div>
    </nav>
  )
}

/** Screens of the bottom bar, for roles that may read mail and for the billing role. */
const onPhones: readonly string[] = ['/', '/traces', '/captures', '/forms/submissions']
const billingOnPhones: readonly string[] = ['/settings/usage', '/settings/invoices', '/settings/you']

/** Bottom bar on phones: a few screens, and a "More" button for all others. */
export function BottomBar(): JSX.Element {
  const w = texts()
  const current = screenAt(path.value)
  const shown = (mayRead.value ? onPhones : billingOnPhones).flatMap((at) => screens.filter((one) => one.at === at && mayOpen(one)))
  return (
    <nav class="bottom" aria-label={w.shortNavigation}>
      {shown.map((screen) => (
        <a
          key={screen.at}
          href={link(screen.at)}
          aria-current={current && (current === screen || entryOf(current) === screen) ? 'page' : undefined}
          onClick={() => (isMenuOpen.value = false)}
        >
          <Icon name={screen.icon} />
          <span class="cut">{(screen.short ?? screen.label)(w)}</span>
        </a>
      ))}
      <button aria-expanded={isMenuOpen.value} onClick={() => (isMenuOpen.value = !isMenuOpen.value)}>
        <Icon name="menu" />
        {w.more}
      </button>
    </nav>
  )
}
