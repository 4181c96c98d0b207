/** Resources that can move between projects: list, name and API call of each kind. */
import { readAll } from '../app/all.ts'
import { call } from '../app/api.ts'
import {
  listDestinations,
  listForms,
  listInboundRoutes,
  listInboxes,
  listSites,
  listSmtpCredentials,
  listTemplates,
  listWebhooks,
  moveTemplate,
  updateDestination,
  updateForm,
  updateInboundRoute,
  updateInbox,
  updateSite,
  updateSmtpCredential,
  updateWebhook,
} from '../wire/operations.ts'
import type { Operation } from '../wire/operation.ts'
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

interface Page<T> {
  readonly data: readonly T[]
  readonly next_cursor: string | null
}

type Listing<T> = Operation<{ query?: { limit?: number; project?: string; cursor?: string } }, Page<T>>

export interface MovableKind {
  readonly kind: Kind
  readonly list: (projectId: string) => Promise<readonly Movable[]>
  /** Moves a resource. Returns warnings about functions that stop working in the new project. */
  readonly move: (id: string, projectId: string) => Promise<readonly string[]>
}

/** Maximum number of resources of a kind. Further resources require a second move. */
const mostMoved = 2000

function lister<T extends { readonly id: string; readonly project_id: string }>(
  kind: Kind,
  operation: Listing<T>,
  nameOf: (row: T) => string,
  stays: (row: T) => Pick<Movable, 'isShared' | 'isNamed'> = () => ({ isShared: false, isNamed: false }),
): MovableKind['list'] {
  return async (projectId) => {
    const { rows } = await readAll(operation, { query: { project: projectId } }, { max: mostMoved })
    const found = rows.filter(({ project_id: owner }) => owner === projectId)
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
      listDestinations,
      ({ name }) => name,
      ({ scope, movable }) => ({ isShared: scope === 'org', isNamed: scope !== 'org' && !movable }),
    ),
    move: quietly((id, project) => call(updateDestination, inProject(id, project))),
  },
  {
    kind: 'smtp_credential',
    list: lister('smtp_credential', listSmtpCredentials, ({ label, username }) => label || username),
    move: async (id, project) => ((await call(updateSmtpCredential, inProject(id, project))).warnings ?? []).map(({ message }) => message),
  },
  {
    kind: 'virtual_inbox',
    list: lister('virtual_inbox', listInboxes, ({ name, address_pattern: pattern }) => name || pattern),
    move: quietly((id, project) => call(updateInbox, inProject(id, project))),
  },
  {
    kind: 'email_template',
    list: lister('email_template', listTemplates, ({ name, slug }) => name || slug),
    move: quietly((id, project) => call(moveTemplate, inProject(id, project))),
  },
  {
    kind: 'webhook_endpoint',
    list: lister('webhook_endpoint', listWebhooks, ({ name }) => name),
    move: quietly((id, project) => call(updateWebhook, inProject(id, project))),
  },
  {
    kind: 'inbound_route',
    list: lister('inbound_route', listInboundRoutes, ({ local_part_pattern: pattern }) => pattern),
    move: quietly((id, project) => call(updateInboundRoute, inProject(id, project))),
  },
  {
    kind: 'form',
    list: lister('form', listForms, ({ name }) => name),
    move: quietly((id, project) => call(updateForm, inProject(id, project))),
  },
  {
    kind: 'site',
    list: lister('site', listSites, ({ slug }) => slug),
    move: quietly((id, project) => call(updateSite, inProject(id, project))),
  },
]
