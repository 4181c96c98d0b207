/** Screen for the projects of the organization, with partitions, limits and usage. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { go, link, linkHere } from '../app/location.ts'
import { isMakingNew, mayChange } from '../app/permissions.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { Gauge } from '../parts/controls.tsx'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { number } from '../parts/time.ts'
import { NewLink, TopBar } from '../parts/top-bar.tsx'
import type { Project } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { NewProject } from './edit-project.tsx'
import { MoveResources } from './move-resources.tsx'
import { ProjectPage } from './project-page.tsx'
import { markOf, Policy, ProjectStatus } from './project-marks.tsx'
import { inTree } from './project-tree.ts'
import { texts } from './projects-texts.ts'

export default function Projects({ rest: [id, part] }: ScreenProps): JSX.Element {
  if (id === undefined) return <ProjectList />
  return part === 'move' ? <MoveResources key={id} id={id} /> : <ProjectPage key={id} id={id} />
}

function ProjectList(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const list = useAll('/v1/projects', {}, { isShown: true })
  const rows = list.read.data ?? []
  const tree = { ...list, read: list.read.state === 'ready' ? { ...list.read, data: inTree(rows) } : list.read }
  const partitions = rows.filter(({ parent_id: parent }) => parent !== null).length
  const sends = rows.reduce((sum, { project_sends_today: today }) => sum + today, 0)
  return (
    <>
      <TopBar title={common.projects}>{mayChange.value && <NewLink label={common.newProject} />}</TopBar>
      <div class="sheet">
        {rows.length > 0 && (
          <div class="say">
            <h2>{w.say({ projects: rows.length - partitions, partitions, sends: number(sends) })}</h2>
            <p>{w.sayText}</p>
          </div>
        )}
        <List
          label={common.projects}
          list={tree}
          failure={w.failed}
          keyOf={({ id }) => id}
          open={({ id }) => link(`/settings/projects/${id}`)}
          empty={<State title={w.none} text={w.sayText} />}
          columns={[
            { head: common.name, class: 'strong', cell: (project) => <Name project={project} /> },
            { head: common.status, class: 'c-status', cell: (project) => <ProjectStatus project={project} /> },
            { head: w.policy, class: 'c-destination', cell: (project) => <Policy project={project} /> },
            {
              head: w.sendsToday,
              class: 'c-outcome',
              cell: ({ project_sends_today: used, send_budget: limit }) => <Used used={used} limit={limit} />,
            },
            {
              head: w.capturesThisMonth,
              class: 'c-outcome',
              cell: ({ captures_this_month: used, monthly_capture_cap: limit }) => <Used used={used} limit={limit} />,
            },
          ]}
          narrow={(project) => [
            <Mark name={markOf(project)} />,
            <Name project={project} isLink={false} />,
            `${w.sendsToday} ${number(project.project_sends_today)} · ${w.policies[project.no_route_policy]}`,
          ]}
        />
      </div>
      {isMakingNew(mayChange) && (
        <NewProject
          onClose={() => go(linkHere({ new: '' }), { replaces: true })}
          onDone={({ id }) => go(link(`/settings/projects/${id}`))}
        />
      )}
    </>
  )
}

function Name({ project, isLink = true }: { readonly project: Project; readonly isLink?: boolean }): JSX.Element {
  const { id, name, is_default: isDefault, parent_id: parent } = project
  const text = <SafeText text={name} />
  return (
    <span class={parent !== null && isLink ? 'under-parent' : ''}>
      {isLink ? <a href={link(`/settings/projects/${id}`)}>{text}</a> : text} {isDefault && <span class="tag">{texts().theDefault}</span>}
      {parent !== null && <span class="tag">{texts().partition}</span>}
    </span>
  )
}

function Used({ used, limit }: { readonly used: number; readonly limit: number | null }): JSX.Element {
  return (
    <span class="used">
      <span class="num">{number(used)}</span> <span class="faint">{limit === null ? '' : allTexts().of({ limit: number(limit) })}</span>
      {limit !== null && <Gauge used={used} limit={limit} />}
    </span>
  )
}
