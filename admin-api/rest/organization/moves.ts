/** Moves of any resource between projects. In REST, the update of each resource moves it. Spec "Project rules" 5. */
import * as z from 'zod'
import { movableTypes, type MoveRequest, type MoveWarnings } from '#core/administration/move.ts'
import { action, type Action } from '../../actions/action.ts'
import { encoder } from '../../wire/fields/codec.ts'
import { id } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const resourceType = z.enum(movableTypes).meta({ id: 'MovableResource' })

const moved = encoder(
  z
    .object({
      resource_type: resourceType,
      resource_id: z.string(),
      project_id: z.string().meta({ description: 'The new project of the resource.' }),
      warnings: z.array(z.object({ path: z.string(), message: z.string() })).meta({
        description: 'Settings of the resource that no longer work in the new project, by field.',
      }),
    })
    .meta({ id: 'MovedResource' }),
).from<MoveRequest & { readonly warnings: MoveWarnings }>({ resource_type: ({ type }) => type, resource_id: ({ id: moving }) => moving })

export const moveActions: readonly Action<RestCore>[] = [
  action({
    id: 'moveResource',
    summary: 'Move a resource to another project of the organization',
    description:
      'Changes nothing if the resource is already there. Refused with `conflict` while routing rules, failover policies or SMTP ' +
      'credentials refer to a destination, and if a slug or a pattern is taken in the other project. Organization-wide ' +
      'destinations and traces never move.',
    tags: ['projects'],
    scope: 'api:admin',
    errors: ['not_found', 'conflict'],
    input: z.strictObject({ resource_type: resourceType, resource_id: id, project_id: id }),
    output: moved,
    graphql: { field: 'moveResource', root: 'mutation' },
    async run({ core, principal }, { resourceType: type, resourceId, projectId }) {
      const request = { type, id: resourceId, projectId }
      return { ...request, warnings: await core.move(principal, request) }
    },
  }),
]
