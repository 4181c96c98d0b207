/** Projects: the one of the key, and all of them. Spec "Destinations, routing, projects", "Project rules". */
import * as z from 'zod'
import { noBody } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { deletionQuery, toDeletion } from '../wire/discard-queued.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import {
  newProjectBody,
  noRoutePolicyBody,
  projectChangesBody,
  projectShape,
  projectStateShape,
  toNewProject,
  toProjectChanges,
  toWireProject,
  toWireProjectState,
} from '../wire/project.ts'
import { id, idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['projects']

export const projectOperations = (core: RestCore): readonly Operation[] => [...own(core), ...reading(core), ...writing(core)]

const own = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/projects/me',
    operationId: 'readMyProject',
    summary: 'Read the state of the project',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    response: projectStateShape,
    handle: async ({ scope }) => toWireProjectState(await core.projects.me(scope)),
  }),
  operation({
    method: 'PATCH',
    path: '/v1/projects/me/no-route-policy',
    operationId: 'setNoRoutePolicy',
    summary: 'Choose what happens to sends that match no destination',
    description: '`capture` keeps them in the virtual inboxes; `reject` refuses them; `relay_default` does the same as `reject` today.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    body: noRoutePolicyBody,
    response: projectStateShape,
    async handle({ scope, body }) {
      return toWireProjectState(await core.projects.setNoRoutePolicy(scope, body.no_route_policy ?? body.value ?? 'capture'))
    },
  }),
]

const reading = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/projects',
    operationId: 'listProjects',
    summary: 'List projects, the newest first',
    description: 'A key of one project sees that project and its partitions.',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject({
      limit: pagingFields.limit,
      cursor: pagingFields.cursor,
      parent_id: id.optional().meta({ description: 'Only the partitions of this project.' }),
    }),
    response: pageOf(projectShape),
    async handle({ scope, query: { limit, cursor, parent_id } }) {
      const page = await core.projects.list(scope, { limit, cursor, parentId: parent_id })
      return { data: page.rows.map(toWireProject), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/projects/{id}',
    operationId: 'readProject',
    summary: 'Read a project',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: projectShape,
    handle: async ({ scope, params }) => toWireProject(await core.projects.get(scope, params.id)),
  }),
]

const writing = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/projects',
    operationId: 'createProject',
    summary: 'Make a project, or with `parent_id` a partition of one',
    description:
      'It begins with a catch-all inbox. A partition has destinations, traces and a send budget of its own, and no partitions; what it sends ' +
      'counts for the plan of the organization, and not for the budget of its parent.',
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['not_found', 'conflict', 'feature_disabled'],
    body: newProjectBody,
    response: projectShape,
    examples: { body: { name: 'Newsletter', send_budget: 1000 } },
    handle: async ({ scope, body }) => toWireProject(await core.projects.create(scope, toNewProject(body))),
  }),
  operation({
    method: 'PATCH',
    path: '/v1/projects/{id}',
    operationId: 'updateProject',
    summary: 'Change a project',
    description: 'Only what is given changes. A key of the project itself changes its name and no-route policy only.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict', 'quota_exhausted'],
    params: idParams,
    body: projectChangesBody,
    response: projectShape,
    handle: async ({ scope, params, body }) => toWireProject(await core.projects.update(scope, params.id, toProjectChanges(body))),
  }),
  operation({
    method: 'DELETE',
    path: '/v1/projects/{id}',
    operationId: 'deleteProject',
    summary: 'Delete a project with its partitions and all that belongs to them',
    description:
      'Destinations, rules, failover policies, templates, SMTP credentials, API keys, inboxes, captures, traces, scheduled sends and replays go ' +
      'with it; nothing of it is sent or shown after this answer. Organization-wide destinations pass to the project Default. Refused with ' +
      'conflict for the project Default, while SMTP credentials of other projects name its destinations, and while mail is queued, unless ' +
      'discard_queued is true: then that mail goes with the project.',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['not_found', 'conflict'],
    params: idParams,
    query: deletionQuery,
    response: noBody,
    handle: ({ scope, params, query }) => core.projects.remove(scope, params.id, toDeletion(query)),
  }),
]
