/** Navigation: project, search, screens in groups and account. It is a rail on narrow screens and a bottom bar on phones. */
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Newest } from '../selection/newest.tsx'
import { Icon } from '../parts/icon.tsx'
import { useOutside } from '../parts/menu.tsx'
import { Mark } from '../parts/mark.tsx'
import { initial, plain } from '../parts/safe-text.tsx'
import { number } from '../parts/time.ts'
import { texts } from '../texts/shell-texts.ts'
import { go, link, linkHere, organization, organizations, path, projectId } from '../app/location.ts'
import { pressedFor } from '../app/keys.ts'
import { badges, isMenuOpen, isPaletteOpen } from '../app/open.ts'
import { mayRead } from '../app/permissions.ts'
import { projectRows, projects } from '../app/projects.ts'
import { shortcuts } from '../app/settings.ts'
import { beginningOf, isListed, mayOpen, screenAt, screens, type Screen } from './screens.ts'
import { SettingsMenu } from './settings-menu.tsx'

const Entry = ({ screen }: { readonly screen: Screen }): JSX.Element => {
  const { count = 0, hasMore = false, isBroken = false } = badges.value[screen.name] ?? {}
  const label = screen.label(texts())
  return (
    <a
      href={link(beginningOf(screen))}
      title={label}
      aria-current={screenAt(path.value) === screen ? 'page' : undefined}
      aria-keyshortcuts={shortcuts.value ? `${pressedFor('g')} ${screen.key}` : undefined}
      onClick={() => (isMenuOpen.value = false)}
    >
      <Icon name={screen.icon} />
      <span class="shell-label">{label}</span>
      {count > 0 && (
        <span class={isBroken ? 'count broken' : 'count'}>
          {isBroken && <Mark name="warning" />}
          {number(count)}
          {hasMore && '+'}
        </span>
      )}
    </a>
  )
}

export function Navigation(): JSX.Element {
  const w = texts()
  const groups = [
    ['mail', ''],
    ['delivery', w.groupDelivery],
    ['content', w.groupContent],
    ['access', w.groupAccess],
  ] as const
  return (
    <nav class={isMenuOpen.value ? 'nav open' : 'nav'} aria-label={w.mainNavigation}>
      <ProjectMenu />
      <button class="nav-search" title={w.searchOrJump} onClick={() => (isPaletteOpen.value = true)} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" />
        <span class="shell-label">{w.searchOrJump}</span>
        <kbd class="shell-label">⌘K</kbd>
      </button>
      <div class="nav-groups">
        {groups.map(([group, title]) => {
          const entries = screens.filter((screen) => screen.group === group && mayOpen(screen))
          return (
            entries.length > 0 && (
              <div class="nav-group" key={group}>
                {title !== '' && <h2>{title}</h2>}
                {entries.map((screen) => (
                  <Entry key={screen.name} screen={screen} />
                ))}
              </div>
            )
          )
        })}
      </div>
      <div class="nav-group nav-foot">
        {screens
          .filter((screen) => screen.group === 'foot' && isListed(screen))
          .map((screen) => (
            <Entry key={screen.name} screen={screen} />
          ))}
        <SettingsMenu />
      </div>
    </nav>
  )
}

function ProjectMenu(): JSX.Element {
  const w = texts()
  const [isShown, setShown] = useState(false)
  const anchor = useRef<HTMLDivElement>(null)
  useOutside(anchor, isShown, () => setShown(false))
  const chosen = projects.value.find(({ id }) => id === projectId.value)
  const owner = organization.value
  const title = chosen?.name ?? w.allProjects
  const close = (): void => setShown(false)
  return (
    <div class="menu-anchor" ref={anchor}>
      <button class="project" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
        <span class="arch" aria-hidden="true">
          {initial(chosen?.name ?? owner?.name ?? '')}
        </span>
        <span class="hidden">{w.chooseProject}</span>
        <span class="project-names shell-label">
          <b>{title}</b>
          <span>{owner?.name}</span>
        </span>
        <span class="shell-label">
          <Icon name="updown" />
        </span>
      </button>
      {isShown && (
        <div class="menu">
          <h3>{w.projects}</h3>
          <ProjectList chosen={chosen?.id} onTake={close} />
          {mayRead.value && (
            <a href={link('/projects')} onClick={close}>
              {w.manageProjects}
            </a>
          )}
          <h3>{w.organizations}</h3>
          {organizations.value.map(({ id, name }) => (
            <a key={id} href={`/?org=${id}`} onClick={close} aria-current={id === owner?.id ? 'true' : undefined}>
              <span class="cut">{name}</span>
            </a>
          ))}
          <a href={link('/orgs')} onClick={close}>
            {w.manageOrganizations}
          </a>
        </div>
      )}
    </div>
  )
}

/** Maximum number of projects without a search field. */
const fewProjects = 8

interface ProjectListProps {
  readonly chosen: string | undefined
  readonly onTake: () => void
}

/** List of projects, with a search if there are many. Enter selects the first match. */
function ProjectList({ chosen, onTake }: ProjectListProps): JSX.Element {
  const w = texts()
  const [text, setText] = useState('')
  const found = projects.value.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))
  const takeFirst = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !found[0]) return
    go(inProject(found[0].id))
    onTake()
  }
  return (
    <>
      {projects.value.length > fewProjects && (
        <input
          class="input"
          type="search"
          aria-label={w.findProject}
          placeholder={w.findProject}
          value={text}
          spellcheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={takeFirst}
        />
      )}
      {text.trim() === '' && (
        <a href={inProject('')} onClick={onTake} aria-current={chosen === undefined ? 'true' : undefined}>
          {w.allProjects}
        </a>
      )}
      {found.map(({ id, name }) => (
        <a key={id} href={inProject(id)} onClick={onTake} aria-current={id === chosen ? 'true' : undefined}>
          <span class="cut">{plain(name)}</span>
        </a>
      ))}
      <Newest of={projectRows.value} />
    </>
  )
}

/**
 * Returns the URL of the current screen for another project or for all. Drops resource ids, because they belong to the previous project.
 */
function inProject(project: string): string {
  const [list = ''] = path.value.split(/\/(?:[a-z]+_)?[0-9a-f-]{20,}/)
  return list === path.value ? linkHere({ project, cursor: '' }) : link(list, { project })
}

/** Screens of the bottom bar. */
const onPhones: readonly string[] = ['', 'traces', 'captures', 'submissions']

/** Bottom bar on phones: a few screens, and a "More" button for all others. */
export const BottomBar = (): JSX.Element => (
  <nav class="bottom" aria-label={texts().shortNavigation}>
    {screens
      .filter((screen) => (mayRead.value ? onPhones.includes(screen.name) : screen.group !== 'none') && mayOpen(screen))
      .slice(0, onPhones.length)
      .map((screen) => (
        <a
          key={screen.name}
          href={link(beginningOf(screen))}
          aria-current={screenAt(path.value) === screen ? 'page' : undefined}
          onClick={() => (isMenuOpen.value = false)}
        >
          <Icon name={screen.icon} />
          <span class="cut">{(screen.short ?? screen.label)(texts())}</span>
        </a>
      ))}
    <button aria-expanded={isMenuOpen.value} onClick={() => (isMenuOpen.value = !isMenuOpen.value)}>
      <Icon name="menu" />
      {texts().more}
    </button>
  </nav>
)
