/** Resources that can move between projects: list, name and API call of each kind. */
import { readAll } from '../app/all.ts'
import { call } from '../app/api.ts'
import type { Input, ListRoute, Row } from '../wire/route.ts'
import type { texts } from './projects-texts.ts'

export type Kind = keyof ReturnType<typeof texts>['kinds']

export interface Movable {
  readonly kind: Kind
  readonly id: string
  readonly name: string
  /** Whether the resource belongs to the organization and cannot move. */
  readonly isShared: boolean
  /** Whether the move is currently impossible, because other settings refer to the resource. */
  readonly isNamed: boolean
}

interface OfProject {
  readonly id: string
  readonly project_id: string
}

/** Routes that list resources of a project. */
type ProjectRoute = {
  [R in ListRoute]: Row<R> extends OfProject ? ({ query: { project: string } } extends Input<R> ? R : never) : never
}[ListRoute]

export interface MovableKind {
  readonly kind: Kind
  readonly list: (projectId: string) => Promise<readonly Movable[]>
  /** Moves a resource. Returns warnings about functions that stop working in the new project. */
  readonly move: (id: string, projectId: string) => Promise<readonly string[]>
}

/** Maximum number of resources of a kind. Further resources require a second move. */
const mostMoved = 2000

function lister<R extends ProjectRoute>(
  kind: Kind,
  route: R,
  nameOf: (row: Row<R>) => string,
  stays: (row: Row<R>) => Pick<Movable, 'isShared' | 'isNamed'> = () => ({ isShared: false, isNamed: false }),
): MovableKind['list'] {
  return async (projectId) => {
    const { rows } = await readAll(route, { query: { project: projectId } } as Input<R>, { max: mostMoved })
    const found = (rows as readonly (Row<R> & OfProject)[]).filter(({ project_id: owner }) => owner === projectId)
    return found.map((row) => ({ kind, id: row.id, name: nameOf(row) || row.id, ...stays(row) }))
  }
}

const quietly =
  (move: (id: string, projectId: string) => Promise<unknown>): MovableKind['move'] =>
  async (id, projectId) => {
    await move(id, projectId)
    return []
  }

const inProject = (id: string, project: string) => ({ path: { id }, body: { project_id: project } })

export const movableKinds: readonly MovableKind[] = [
  {
    kind: 'destination',
    list: lister(
      'destination',
      '/v1/destinations',
      ({ name }) => name,
      ({ scope, movable }) => ({ isShared: scope === 'org', isNamed: scope !== 'org' && !movable }),
    ),
    move: quietly((id, project) => call('PATCH /v1/destinations/{id}', inProject(id, project))),
  },
  {
    kind: 'smtp_credential',
    list: lister('smtp_credential', '/v1/smtp-credentials', ({ label, username }) => label || username),
    move: async (id, project) =>
      ((await call('PATCH /v1/smtp-credentials/{id}', inProject(id, project))).warnings ?? []).map(({ message }) => message),
  },
  {
    kind: 'virtual_inbox',
    list: lister('virtual_inbox', '/v1/inboxes', ({ name, address_pattern: pattern }) => name || pattern),
    move: quietly((id, project) => call('PATCH /v1/inboxes/{id}', inProject(id, project))),
  },
  {
    kind: 'email_template',
    list: lister('email_template', '/v1/templates', ({ name, slug }) => name || slug),
    move: quietly((id, project) => call('PATCH /v1/templates/{id}', inProject(id, project))),
  },
  {
    kind: 'webhook_endpoint',
    list: lister('webhook_endpoint', '/v1/webhooks', ({ name }) => name),
    move: quietly((id, project) => call('PATCH /v1/webhooks/{id}', inProject(id, project))),
  },
  {
    kind: 'inbound_route',
    list: lister('inbound_route', '/v1/inbound-routes', ({ local_part_pattern: pattern }) => pattern),
    move: quietly((id, project) => call('PATCH /v1/inbound-routes/{id}', inProject(id, project))),
  },
  {
    kind: 'form',
    list: lister('form', '/v1/forms', ({ name }) => name),
    move: quietly((id, project) => call('PATCH /v1/forms/{id}', inProject(id, project))),
  },
  {
    kind: 'site',
    list: lister('site', '/v1/sites', ({ slug }) => slug),
    move: quietly((id, project) => call('PATCH /v1/sites/{id}', inProject(id, project))),
  },
]
