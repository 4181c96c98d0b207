/** Page of a project: limits and usage, partitions, content, and deletion. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { useRead } from '../app/query.ts'
import { CopyButton, Gauge } from '../parts/controls.tsx'
import { Newest } from '../selection/newest.tsx'
import { FeatureNote, useFlag } from '../parts/feature.tsx'
import { Icon } from '../parts/icon.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { dateOnly, number } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { Project } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { DeleteProject } from './delete-project.tsx'
import { EditProject, NewProject } from './edit-project.tsx'
import { Policy, ProjectStatus } from './project-marks.tsx'
import { texts } from './projects-texts.ts'

interface PageProps {
  readonly id: string
  /** Whether the page is the section of the chosen project, without links above it. */
  readonly isSection?: boolean
}

export function ProjectPage({ id, isSection = false }: PageProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const read = useRead('/v1/projects/{id}', { path: { id } }, { isShown: true })
  const project = read.data
  const asked = mayChange.value ? query.value.get('do') : null
  const close = (): void => go(linkHere({ do: '' }), { replaces: true })
  const [turn, setTurn] = useState(0)
  return (
    <>
      <TopBar
        title={isSection ? common.project : plain(project?.name ?? common.project)}
        {...(!isSection && {
          heading: (
            <>
              <a href={link('/settings/projects')}>{common.projects}</a>
              <span class="cut">{plain(project?.name ?? '')}</span>
            </>
          ),
        })}
      >
        {mayChange.value && project && (
          <a class="button primary" href={linkHere({ do: 'edit' })}>
            {w.edit}
          </a>
        )}
      </TopBar>
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.failed}>
          {(shown) => (
            <>
              <Ledger project={shown} />
              <div class="columns">
                <section aria-label={common.project}>
                  <Facts project={shown} />
                  {shown.parent_id === null && <Partitions key={turn} project={shown} />}
                </section>
                <aside aria-label={w.inside}>
                  <Inside project={shown} />
                </aside>
              </div>
            </>
          )}
        </Show>
      </div>
      {project && asked === 'edit' && <EditProject project={project} onClose={close} onDone={read.reload} />}
      {project && asked === 'new' && (
        <NewProject
          parent={project}
          onClose={close}
          onDone={() => {
            close()
            setTurn(turn + 1)
          }}
        />
      )}
      {project && asked === 'delete' && <DeleteProject project={project} onClose={close} />}
    </>
  )
}

function Ledger({ project }: { readonly project: Project }): JSX.Element {
  const w = texts()
  const figures = [
    [w.sendsToday, project.project_sends_today, project.send_budget],
    [w.capturesThisMonth, project.captures_this_month, project.monthly_capture_cap],
  ] as const
  return (
    <dl class="ledger">
      {figures.map(([name, used, limit]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b>{number(used)}</b> <span>{limit === null ? allTexts().withoutLimit : allTexts().of({ limit: number(limit) })}</span>
            {limit !== null && <Gauge used={used} limit={limit} />}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Facts({ project }: { readonly project: Project }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const { id, name, parent_id: parent, is_default: isDefault } = project
  return (
    <div class="block">
      <h2>
        <SafeText text={name} /> {isDefault && <span class="tag">{w.theDefault}</span>}
        {parent !== null && <span class="tag">{w.partition}</span>}
      </h2>
      <dl class="facts">
        <dt>{common.status}</dt>
        <dd>
          <ProjectStatus project={project} />
        </dd>
        {parent !== null && (
          <>
            <dt>{w.partitionOf}</dt>
            <dd>
              <a href={link(`/settings/projects/${parent}`)}>{parent}</a>
            </dd>
          </>
        )}
        <dt>{w.policy}</dt>
        <dd>
          <Policy project={project} />
        </dd>
        <dt>{common.environment}</dt>
        <dd>
          <SafeText text={project.environment ?? '–'} />
        </dd>
        <dt>{w.created}</dt>
        <dd>{dateOnly(project.created_at)}</dd>
        <dt>id</dt>
        <dd>
          {id}
          <CopyButton text={id} label={common.copyId} />
        </dd>
      </dl>
    </div>
  )
}

function Partitions({ project: { id } }: { readonly project: Project }): JSX.Element {
  const w = texts()
  const list = useAll('/v1/projects', { query: { parent_id: id } })
  const flag = useFlag('tenant_partitions')
  return (
    <div class="block">
      <h2>{w.partitions}</h2>
      <Show read={list.read} reload={list.reload} failure={w.failed} rows={2}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="soft">{w.noPartitions}</p>
          ) : (
            <ul class="links">
              {rows.map((one) => (
                <li key={one.id}>
                  <a href={link(`/settings/projects/${one.id}`)}>
                    <SafeText text={one.name} />
                  </a>
                  <span class="faint">
                    {w.sendsToday} {number(one.project_sends_today)}{' '}
                    {one.send_budget !== null && allTexts().of({ limit: number(one.send_budget) })}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Show>
      <Newest of={list} />
      <FeatureNote flag={flag} />
      {mayChange.value && flag?.enabled !== false && (
        <div class="actions">
          <a class="button" href={linkHere({ do: 'new' })}>
            <Icon name="plus" />
            {w.newPartition}
          </a>
        </div>
      )}
    </div>
  )
}

function Inside({ project }: { readonly project: Project }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const { id, is_default: isDefault } = project
  const lists = [
    ['/traces', common.traces],
    ['/captures', common.captures],
    ['/destinations', common.destinations],
    ['/settings/keys', common.sections.keys],
    ['/settings/smtp-logins', common.sections.smtpLogins],
    ['/settings/webhooks', common.webhooks],
    ['/routing', common.routing],
    ['/incoming/routes', common.inboundRoutes],
  ] as const
  return (
    <>
      <div class="block">
        <h2>{w.inside}</h2>
        <ul class="links">
          {lists.map(([path, label]) => (
            <li key={path}>
              <a href={link(path, { project: id })}>{label}</a>
            </li>
          ))}
        </ul>
        {mayChange.value && (
          <div class="actions">
            <a class="button" href={link(`/settings/projects/${id}/move`)}>
              {w.move}…
            </a>
          </div>
        )}
      </div>
      {mayChange.value && (
        <div class="block">
          {isDefault ? (
            <p class="soft">{w.defaultStays}</p>
          ) : (
            <div class="actions">
              <a class="button danger" href={linkHere({ do: 'delete' })}>
                {w.deleteProject}…
              </a>
            </div>
          )}
        </div>
      )}
    </>
  )
}
