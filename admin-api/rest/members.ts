/** Members of the organization. They belong to the whole organization, so keys of one project have no say. */
import { noBody } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { memberShape, roleBody, toWireMember } from '../wire/member.ts'
import { pageOf } from '../wire/paging.ts'
import { idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['members']

export const memberOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/members',
    operationId: 'listMembers',
    summary: 'List the members of the organization',
    description: 'All of them on one page: `next_cursor` is always null.',
    tags,
    right: 'api:read',
    response: pageOf(memberShape),
    handle: async ({ scope }) => ({ data: (await core.members.list(scope)).map(toWireMember), next_cursor: null }),
  }),
  operation({
    method: 'PATCH',
    path: '/v1/members/{id}',
    operationId: 'changeMemberRole',
    summary: 'Change the role of a member',
    description:
      'Takes effect with the next request of the member. Only an owner who is signed in makes and unmakes owners, and one always stays.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    body: roleBody,
    response: memberShape,
    examples: { body: { role: 'developer' } },
    handle: async ({ scope, params, body }) => toWireMember(await core.members.changeRole(scope, params.id, body.role)),
  }),
  operation({
    method: 'DELETE',
    path: '/v1/members/{id}',
    operationId: 'removeMember',
    summary: 'Remove a member',
    description: 'Access ends at once. API keys stay as they are.',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['not_found', 'conflict'],
    params: idParams,
    response: noBody,
    handle: ({ scope, params }) => core.members.remove(scope, params.id),
  }),
]
