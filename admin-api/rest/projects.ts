/** The project of the key. Spec "Destinations, routing, projects". */
import { operation, type Operation } from '../operation.ts'
import { noRoutePolicyBody, projectShape, toWireProject } from '../wire/project.ts'
import type { RestCore } from './core.ts'

const tags = ['projects']

export const projectOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/projects/me',
    operationId: 'readMyProject',
    summary: 'Read the state of the project',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    response: projectShape,
    handle: async ({ scope }) => toWireProject(await core.projects.me(scope)),
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
    response: projectShape,
    async handle({ scope, body }) {
      return toWireProject(await core.projects.setNoRoutePolicy(scope, body.no_route_policy ?? body.value ?? 'capture'))
    },
  }),
]
