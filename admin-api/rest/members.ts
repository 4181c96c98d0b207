/** Members of the organization. They belong to the whole organization, so keys of one project have no say. */
import * as z from 'zod'
import { operation, type Operation } from '../operation.ts'
import { keyFates } from '../wire/api-key.ts'
import { memberShape, roleBody, toWireMember } from '../wire/member.ts'
import { pageOf } from '../wire/paging.ts'
import { idList, idParams } from '../wire/text.ts'
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
      'Takes effect with the next request of the member and of the API keys that they minted. Only an owner who is signed in makes and unmakes owners, and one always stays.',
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
    description:
      'Access ends at once, and so do the API keys that the member or their applications minted; GET /v1/api-keys?minted_by={id} lists them ' +
      'beforehand. keep_keys names those to keep: they go on with the ceiling that they have, and their secret is known to who left, so ' +
      'rotate them. SMTP credentials and publishable keys belong to their project and stay.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    query: z.strictObject({ keep_keys: idList('API keys to keep, as ids with commas between them.') }),
    response: keyFates.schema,
    handle: async ({ scope, params, query }) => keyFates.encode(await core.members.remove(scope, params.id, query.keep_keys)),
  }),
]
