/** Switcher of projects and organizations: sends of today, a mark for errors, and unclaimed sandboxes at the end. */
import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { go, link, organization, organizations, projectId } from '../app/location.ts'
import { pressedFor } from '../app/keys.ts'
import { isProjectMenuOpen } from '../app/open.ts'
import { mayChange, mayRead } from '../app/permissions.ts'
import { projects } from '../app/projects.ts'
import { shortcuts } from '../app/settings.ts'
import { inOrder } from '../findings/finding-order.ts'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { useOutside } from '../parts/menu.tsx'
import { initial, plain } from '../parts/safe-text.tsx'
import { number } from '../parts/time.ts'
import { inTree } from '../projects/project-tree.ts'
import { Newest } from '../selection/newest.tsx'
import { texts } from '../texts/shell-texts.ts'
import type { Project } from '../wire/api.d.ts'
import { inProject } from './in-project.ts'

export function ProjectMenu(): JSX.Element {
  const w = texts()
  const isShown = isProjectMenuOpen.value
  const close = (): void => void (isProjectMenuOpen.value = false)
  const anchor = useRef<HTMLDivElement>(null)
  useOutside(anchor, isShown, close)
  const chosen = projects.value.find(({ id }) => id === projectId.value)
  const owner = organization.value
  return (
    <div class="menu-anchor" ref={anchor}>
      <button
        class="project"
        aria-expanded={isShown}
        aria-keyshortcuts={shortcuts.value ? `${pressedFor('g')} p` : undefined}
        onClick={() => (isProjectMenuOpen.value = !isShown)}
      >
        <span class="arch" aria-hidden="true">
          {initial(chosen?.name ?? owner?.name ?? '')}
        </span>
        <span class="hidden">{w.chooseProject}</span>
        <span class="project-names shell-label">
          <b>{plain(chosen?.name ?? w.allProjects)}</b>
          <span>{owner?.name}</span>
        </span>
        <span class="shell-label">
          <Icon name="updown" />
        </span>
      </button>
      {isShown && <Choices onTake={close} />}
    </div>
  )
}

interface TakeProps {
  readonly onTake: () => void
}

function Choices({ onTake }: TakeProps): JSX.Element {
  const w = texts()
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const inside = list.current
    ;(inside?.querySelector<HTMLElement>('input, a[aria-current]') ?? inside?.querySelector('a'))?.focus()
  }, [])
  const others = organizations.value
  return (
    <div class="menu switcher" ref={list} onKeyDown={(event) => step(event, list.current)}>
      {mayRead.value && <Projects onTake={onTake} />}
      <h3>{w.organizations}</h3>
      {others.map(({ id, name }) => (
        <a key={id} href={`/?org=${id}`} onClick={onTake} aria-current={id === organization.value?.id ? 'true' : undefined}>
          <span class="cut">{plain(name)}</span>
        </a>
      ))}
      <a href={mayRead.value ? link('/settings/organization') : '/organizations'} onClick={onTake}>
        {w.manageOrganizations}
      </a>
    </div>
  )
}

/** Moves the focus between the choices by arrow keys. */
function step(event: KeyboardEvent, list: HTMLElement | null): void {
  const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (by === 0 || !list) return
  event.preventDefault()
  const all = [...list.querySelectorAll<HTMLElement>('input, a')]
  const at = all.findIndex((one) => one === document.activeElement)
  all.at((at + by + all.length) % all.length)?.focus()
}

/** Number of projects from which the menu has a search field. */
const manyProjects = 9

/** Projects with a search if there are many. Enter in the search selects the first match. */
function Projects({ onTake }: TakeProps): JSX.Element {
  const w = texts()
  const [text, setText] = useState('')
  const all = useAll('/v1/projects', {})
  const known = all.rows.length > 0 ? all.rows : projects.value
  const errors = useAll('/v1/findings', { query: { state: 'open', severity: 'error' } })
  const troubled = new Set(inOrder(errors.rows).map(({ project_id: id }) => id))
  const wanted = text.trim().toLowerCase()
  const found = inTree(known).filter(({ name }) => name.toLowerCase().includes(wanted))
  const [claimed, sandboxes] = [found.filter(({ status }) => status === 'claimed'), found.filter(({ status }) => status !== 'claimed')]
  const first = claimed[0] ?? sandboxes[0]
  const takeFirst = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !first) return
    go(inProject(first.id))
    onTake()
  }
  const row = (project: Project): JSX.Element => (
    <Choice key={project.id} project={project} isTroubled={troubled.has(project.id)} onTake={onTake} />
  )
  return (
    <>
      <h3>
        {w.projects} <span>{w.sendsOfToday}</span>
      </h3>
      {known.length >= manyProjects && (
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
      {wanted === '' && (
        <a href={inProject('')} onClick={onTake} aria-current={projectId.value === undefined ? 'true' : undefined}>
          <span>{w.allProjects}</span>
          <Today n={known.reduce((sum, { project_sends_today: sends }) => sum + sends, 0)} />
        </a>
      )}
      {claimed.map(row)}
      <Newest of={all} />
      {found.length === 0 && <p class="faint">{w.nothingMatches}</p>}
      {mayChange.value && (
        <a href={link('/settings/projects', { new: '1' })} onClick={onTake}>
          {w.newProject}…
        </a>
      )}
      <a href={link('/settings/project')} onClick={onTake}>
        {w.projectSettings}
      </a>
      {sandboxes.length > 0 && <h3>{w.sandboxes}</h3>}
      {sandboxes.map(row)}
    </>
  )
}

function Choice({ project, isTroubled, onTake }: TakeProps & { readonly project: Project; readonly isTroubled: boolean }): JSX.Element {
  const { id, name, parent_id: parent, project_sends_today: sends } = project
  return (
    <a
      href={inProject(id)}
      onClick={onTake}
      aria-current={id === projectId.value ? 'true' : undefined}
      class={parent === null ? '' : 'partition'}
    >
      <span class="cut">{plain(name)}</span>
      {isTroubled && (
        <span class="trouble">
          <Mark name="failed" />
          <span class="hidden">{texts().hasErrors}</span>
        </span>
      )}
      <Today n={sends} />
    </a>
  )
}

const Today = ({ n }: { readonly n: number }): JSX.Element => <span class="today num">{number(n)}</span>
